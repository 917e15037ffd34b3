// A two-way RPC, operator to handler to operator, one after the other without a pause, which is the
// hardest for a device: the next one waits for its next poll. Operator, local platform and each
// device are processes of their own; the operator's and the bare client's HTTP are raw sockets, and
// the local platform is the same for all. Rounds alternate; a round's p50 and p99 are compared with
// those of the bare client's round. The local platform closes a connection after 100 requests, as
// the real server does: of 100 RPCs two wait for a new connection, with either client, and p99 is
// mostly theirs.
import { startPart } from "../parts/parts.js";
import { Raw } from "../raw.js";
import type { Line, Options, Row } from "../row.js";

/** RPCs in a row to one device, and how often in a round. */
const BLOCK = 25;
const BLOCKS = { whole: 40, quick: 8 } as const;
/** Until a device's budget for RPCs (src/http/governor.ts) is full again: a whole round uses it up. */
const REST_MS = 20_000;
const KINDS = ["mote", "bare"] as const;
type Kind = (typeof KINDS)[number];

class Operator {
  readonly #raw: Raw;
  readonly #ids: Readonly<Record<string, string>>;
  #jwt = "";

  constructor(port: number, ids: Readonly<Record<string, string>>) {
    this.#raw = new Raw(port);
    this.#ids = ids;
  }

  async login(): Promise<void> {
    const body = JSON.stringify({ username: "tenant@thingsboard.org", password: "tenant" });
    const answer = await this.#post("/api/auth/login", body);
    this.#jwt = JSON.parse(answer).token;
  }

  /** Milliseconds of one RPC. */
  async rpc(device: string, n: number): Promise<number> {
    const body = JSON.stringify({ method: "echo", params: { n }, timeout: 20_000 });
    const start = performance.now();
    const answer = await this.#post(`/api/rpc/twoway/${this.#ids[device]}`, body);
    const took = performance.now() - start;
    if (answer !== `{"n":${n}}`) throw new Error(`${device} answered ${answer}`);
    return took;
  }

  close(): void {
    this.#raw.close();
  }

  async #post(path: string, body: string): Promise<string> {
    const login = this.#jwt ? `\r\nX-Authorization: Bearer ${this.#jwt}` : "";
    const head = `POST ${path} HTTP/1.1\r\nContent-Type: application/json${login}`;
    const answer = await this.#raw.request(head, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body}`);
    return answer.body;
  }
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;

type Percentiles = Record<"p50" | "p99", number[]>;

/** A round of each, block by block in turn, so that a busy moment of the machine meets all of them. */
async function round(blocks: number, rpc: (kind: Kind) => Promise<number>) {
  const took = new Map<Kind, number[]>(KINDS.map((kind) => [kind, []]));
  for (let block = 0; block < blocks; block++) {
    for (const kind of block % 2 === 0 ? KINDS : KINDS.toReversed()) {
      for (let i = 0; i < BLOCK; i++) took.get(kind)?.push(await rpc(kind));
    }
  }
  return took;
}

async function measured({ times, quick }: Options, operator: Operator): Promise<Record<Kind, Percentiles>> {
  const empty = (): Percentiles => ({ p50: [], p99: [] });
  const found: Record<Kind, Percentiles> = { mote: empty(), bare: empty() };
  let n = 0;
  const rpc = (kind: Kind) => operator.rpc(kind, n++);
  const blocks = BLOCKS[quick ? "quick" : "whole"];
  await round(blocks, rpc);
  for (let time = 0; time < times; time++) {
    if (!quick) await new Promise((resolve) => setTimeout(resolve, REST_MS));
    for (const [kind, all] of await round(blocks, rpc)) {
      all.sort((one, other) => one - other);
      for (const [name, share] of [
        ["p50", 0.5],
        ["p99", 0.99],
      ] as const)
        found[kind][name].push(at(all, share));
    }
  }
  return found;
}

async function run(options: Options): Promise<Line[]> {
  const platform = await startPart("part-platform.js", ...KINDS);
  const { port, ids } = platform.said as { port: number; ids: Record<string, string> };
  const devices = await Promise.all(
    KINDS.map((kind) => startPart("part-rpc-device.js", kind, kind, String(port))),
  );
  const operator = new Operator(port, ids);
  try {
    await operator.login();
    const figures = await measured(options, operator);
    return (["p50", "p99"] as const).map((what) => {
      const { mote, bare } = figures;
      return { what, unit: "ms", mote: mote[what], limit: bare[what] };
    });
  } finally {
    operator.close();
    await Promise.all([...devices, platform].map((part) => part.end()));
  }
}

export const row: Row = {
  id: 9,
  name: "two-way RPC, operator to handler to operator",
  target: 1.2,
  quick: true,
  run,
};
