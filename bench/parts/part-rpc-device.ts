// A device that answers server-side RPCs with their parameters. `part-rpc-device.js mote|bare TOKEN
// PORT`: an agent with its store in memory, or the barest client that answers right: it polls on
// one socket, answers on another, and asks again once the answer was taken.
import { randomFillSync } from "node:crypto";
import { clock } from "../../hosts/node/clock.js";
import { digest } from "../../hosts/node/digest.js";
import { opener } from "../../hosts/node/sockets.js";
import { decode, encode } from "../../hosts/node/text.js";
import { none } from "../../hosts/none.js";
import { Agent } from "../../src/index.js";
import type { Host } from "../../src/port.js";
import { FakeStore } from "../../test/fakes/host.js";
import { Raw } from "../raw.js";
import { answerAsPart } from "./parts.js";

const [kind, token = "", portText] = process.argv.slice(2);
const port = Number(portText);
const POLL_MS = 25_000;

const inMemory = (): Host => ({
  ...none,
  clock,
  open: opener(),
  digest,
  encode,
  decode,
  store: new FakeStore(),
  random: (into) => void randomFillSync(into),
  hardwareId: "bench",
});

function runAgent(): void {
  const agent = new Agent(inMemory(), { baseUrl: `http://127.0.0.1:${port}`, token });
  agent.rpc.handle("echo", (params) => params ?? null);
  agent.on("online", () => answerAsPart("online"));
  agent.start();
}

async function runBare(): Promise<void> {
  const polls = new Raw(port);
  const answers = new Raw(port);
  answerAsPart("online");
  for (;;) {
    const { status, body } = await polls.request(`GET /api/v1/${token}/rpc?timeout=${POLL_MS} HTTP/1.1`);
    if (status !== 200) continue;
    const { id, params } = JSON.parse(body);
    await answers.request(
      `POST /api/v1/${token}/rpc/${id} HTTP/1.1\r\nContent-Type: application/json`,
      JSON.stringify(params),
    );
  }
}

if (kind === "bare") await runBare();
else runAgent();
