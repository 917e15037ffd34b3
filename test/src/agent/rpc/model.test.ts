// RPC against a reference: each is run once and answered, whatever happens to answers, the device and the platform.
import fc from "fast-check";
import {
  type Command,
  calm,
  command,
  faults,
  restartDevice,
  restartPlatform,
  wait,
} from "../model-commands.js";
import { NAME, startRig, test } from "../rig.js";

const RUNS = 50;
const HOUR = 3_600_000;

// The reference: what was sent, and what the platform forgot when it started restartsAt.
interface Model {
  readonly sent: { results: { kind: string; text?: string }[]; forgotten: boolean }[];
  restarts: number;
  /** How many had been sent at each start of the platform. */
  readonly restartsAt: number[];
}

const isAnswer = ({ method, path }: { method: string; path: string }) =>
  method === "POST" && /\/rpc\/-?\d+$/.test(path);
const isPoll = ({ path }: { path: string }) => path.includes("/rpc?timeout=");

const send = (oneWay: boolean): Command<Model> =>
  command(oneWay ? "one-way" : "two-way", ({ sent }, { rig }) => {
    const results = rig.platform.rpc(rig.platform.device(NAME), "echo", sent.length, {
      oneWay,
      timeoutMs: HOUR,
    });
    // What goes out on a poll whose answer is lost is gone: nobody could know.
    sent.push({ results, forgotten: oneWay });
  });

const forget = ({ sent, restartsAt }: Model): void => {
  restartsAt.push(sent.length);
  for (const rpc of sent) if (rpc.results.length === 0) rpc.forgotten = true;
};

/** An answer under way when the platform starts again reaches another RPC, if that has its id by then: nobody can know. */
const strays = ({ restartsAt }: Model, n: number, answer: string | undefined): boolean =>
  restartsAt.some((first) => Number(answer) < first && first <= n);

const COMMANDS: fc.Arbitrary<Command<Model>>[] = [
  fc.boolean().map(send),
  fc.constant(send(false)),
  wait(),
  fc.constant(restartDevice<Model>((model) => void model.restarts++)),
  fc.constant(restartPlatform<Model>(forget)),
  faults("lose the way of an answer", isAnswer, "drop"),
  faults("lose what acknowledges an answer", isAnswer, "lose-answer"),
  faults("refuse an answer as busy", isAnswer, { status: 503 }),
  faults("lose what a poll brings", isPoll, "lose-answer"),
];

test("RPC does what its reference does: no handler runs twice, each answer comes", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 16, size: "max" }), async (commands) => {
      const rig = startRig(t);
      const ran: number[] = [];
      const begin = () => {
        const agent = rig.agent();
        agent.rpc.handle<number>("echo", (n) => {
          ran.push(n);
          return n;
        });
        agent.start();
        return agent;
      };
      begin();
      await rig.clock.advance(3000);
      const model: Model = { sent: [], restarts: 0, restartsAt: [] };
      const real = { rig, begin };
      await fc.asyncModelRun(() => ({ model, real }), commands);
      await calm(real, 15 * 60_000);
      model.sent.forEach(({ results: [result], forgotten }, n) => {
        const runs = ran.filter((one) => one === n).length;
        if (runs > 1) throw new Error(`${n} ran ${runs} times`);
        if (forgotten) return;
        if (result?.kind !== "answer") throw new Error(`${n} was not answered`);
        if (strays(model, n, result.text)) return;
        const unknown = result.text?.includes("OUTCOME_UNKNOWN") === true && model.restarts > 0;
        if (!unknown && (result.text !== String(n) || runs !== 1))
          throw new Error(`${n} was answered ${result.text}`);
      });
    }),
    { numRuns: RUNS },
  );
  t.pass();
});
