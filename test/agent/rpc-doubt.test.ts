// For how long an RPC is known again, by the polls that end.
import test from "ava";
import { Doubts } from "../../src/agent/rpc-doubt.js";
import { fakeHost } from "../fakes/host.js";

const HASH = 1;

/** One whose answer came to nothing, or was acknowledged, before polls 1 and 2 were opened. */
function settled(acknowledged: boolean) {
  const doubts = new Doubts(fakeHost());
  const doubt = doubts.open(4, HASH, true);
  if (!doubt) throw new Error("not stored");
  doubts.settle(doubt, 1, acknowledged);
  return { doubts, doubt };
}

test("an RPC whose answer came to nothing is known on each poll that was opened before one that ended without it", (t) => {
  const { doubts, doubt } = settled(false);
  doubts.pollEnded(2, 5, 1);
  t.is(doubts.find(4, HASH, 1), doubt);
  doubts.pollEnded(1, 4, 3);
  t.is(doubts.find(4, HASH, 3), undefined);
});

test("what a poll brings that was opened after all that is a new RPC", (t) => {
  const { doubts, doubt } = settled(false);
  doubts.pollEnded(2, undefined, 1);
  t.is(doubts.find(4, HASH, 3), undefined);
  t.is(doubts.find(4, HASH, 1), doubt);
});

test("an RPC whose answer was acknowledged is forgotten with the first poll after it, whatever is open", (t) => {
  const { doubts } = settled(true);
  doubts.pollEnded(2, 5, 1);
  t.is(doubts.find(4, HASH, 1), undefined);
});
