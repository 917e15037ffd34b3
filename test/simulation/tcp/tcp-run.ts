// A simulated run over real TCP: the agent on the Node host, sockets on loopback, and a platform behind them that does with requests what a
// seed says. Device and platform share a clock that runs faster than the machine's, so that deadlines and back-offs are real but short.
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost, type NodeHost } from "../../../hosts/node/host.js";
import { Agent } from "../../../src/index.js";
import type { RpcResult } from "../../../tools/platform/core/rpc/rpc.js";
import { reset } from "../../../tools/platform/reset.js";
import type { FakeNet, Peer } from "../../fakes/net.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";
import { Dice } from "../dice.js";
import { CAUSES } from "../faults.js";

/** Times faster than the machine's clock. */
const SCALE = 60;
const BEGIN = Date.UTC(2026, 0, 1);
const NAME = "greenhouse-7";
const DEEDS = 14;
const DEED_MS = 60;
/** Of the machine: after this a run that has not come right never will. */
const LIMIT_MS = 60_000;
const LOOK_MS = 25;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const fastClock = {
  now: () => performance.now() * SCALE,
  wall: () => BEGIN + performance.now() * SCALE,
  timer: (ms: number, due: () => void) => {
    const timer = setTimeout(due, Math.ceil(ms / SCALE));
    return () => clearTimeout(timer);
  },
};

/** The platform's end of a real connection, as the in-memory one looks. */
class TcpPeer {
  onData: ((bytes: Uint8Array) => void) | undefined;
  onClose: (() => void) | undefined;
  closed = false;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (bytes: Uint8Array) => this.onData?.(bytes));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      this.closed = true;
      this.onClose?.();
    });
  }

  send(data: string | Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(data);
  }

  end(): void {
    this.#socket.end();
  }

  reset(): void {
    if (!this.#socket.destroyed) reset(this.#socket);
  }
}

export class TcpRun {
  readonly dice: Dice;
  readonly failures: string[] = [];
  readonly lines: string[] = [];
  readonly points: number[] = [];
  readonly runs = new Map<number, number>();
  readonly answers: RpcResult[][] = [];
  readonly seen = new Map<string, unknown>();
  readonly #stateDir = mkdtempSync(join(tmpdir(), "mote-run-"));
  readonly #net: Pick<FakeNet, "onConnect"> = { onConnect: undefined };
  readonly #platform: FakePlatform;
  readonly #peers: TcpPeer[] = [];
  #server: Server | undefined;
  #fault: string | undefined;
  #recorded = 0;
  #dropped = 0;
  #host: NodeHost | undefined;
  #agent: Agent | undefined;

  constructor(seed: number) {
    this.dice = new Dice(seed);
    const { dice } = this;
    this.#platform = new FakePlatform(fastClock, this.#net);
    this.#platform.fault = (request) => {
      const cause = this.#fault === undefined ? undefined : CAUSES[this.#fault];
      return cause?.(request, { peer: request.peer, dice, clock: fastClock });
    };
    this.#platform.noteValues((key, value) => {
      if (key === "n") this.points.push(value);
      if (key.startsWith("moteDropped")) this.#dropped = Math.max(this.#dropped, value);
    });
  }

  get #device() {
    return this.#platform.core.devices.byName(NAME);
  }

  async execute(): Promise<string[]> {
    this.#server = createServer((socket) => {
      const peer = new TcpPeer(socket);
      this.#peers.push(peer);
      this.#net.onConnect?.(peer as unknown as Peer);
    });
    await new Promise<void>((resolve) => this.#server?.listen(0, "127.0.0.1", resolve));
    try {
      this.#boot(this.dice.pick([1, 2, 3]));
      for (let deed = 0; deed < DEEDS; deed++) {
        await pause(this.dice.below(DEED_MS));
        await this.#deed();
      }
      this.#fault = undefined;
      await this.#comeRight();
      await this.#end();
    } finally {
      for (const peer of this.#peers) peer.reset();
      this.#server.close();
      rmSync(this.#stateDir, { recursive: true, force: true });
    }
    return this.failures;
  }

  #boot(connections: 1 | 2 | 3): void {
    const log = (_level: string, line: string) => void this.lines.push(line);
    const host = createHost({ stateDir: this.#stateDir, blocksBytes: 16 * 4096, slotBytes: 4096, log });
    this.#host = host;
    const { port } = this.#server!.address() as AddressInfo;
    const agent = new Agent(
      { ...host, clock: fastClock },
      {
        baseUrl: `http://127.0.0.1:${port}`,
        provisioning: { key: KEY, secret: SECRET, deviceName: NAME },
        connections,
      },
    );
    this.#agent = agent;
    agent.rpc.handle("echo", ({ nonce }: { nonce: number }) => {
      this.runs.set(nonce, (this.runs.get(nonce) ?? 0) + 1);
      return { nonce };
    });
    this.seen.clear();
    for (const key of ["interval", "mode"])
      agent.attributes.subscribe(key, (value) => void this.seen.set(key, value));
    agent.start();
  }

  async #deed(): Promise<void> {
    const { dice } = this;
    const device = this.#device;
    const deed = dice.below(10);
    if (deed < 4) this.#fault = dice.chance(0.25) ? undefined : dice.pick(Object.keys(CAUSES));
    else if (deed < 6) for (let i = dice.pick([1, 20, 200]); i > 0; i--) this.#record();
    else if (deed < 7 && device) {
      const values = { interval: dice.below(9), mode: dice.pick(["on", "ü".repeat(300)]) };
      this.#platform.setShared(device, values);
    } else if (deed < 9 && device) this.#ask();
    else await this.#restart(dice.pick([1, 2, 3]));
  }

  #record(): void {
    this.#agent?.telemetry.record({ n: this.#recorded++ });
  }

  #ask(): void {
    const nonce = this.answers.length;
    const forever = { timeoutMs: 20 * 86_400_000 };
    this.answers.push(this.#platform.rpc(this.#device!, "echo", { nonce }, forever));
  }

  async #restart(connections: 1 | 2 | 3): Promise<void> {
    await this.#agent?.stop();
    this.#host?.close();
    this.#boot(connections);
  }

  /** Without faults, however long that takes: what it comes to does not depend on the machine's speed. */
  async #comeRight(): Promise<void> {
    const end = performance.now() + LIMIT_MS;
    await until(() => this.#device !== undefined, end);
    if (!this.#device) return void this.failures.push("there is no device");
    this.#ask();
    this.#record();
    await until(() => this.#wrong().length === 0, end);
    this.failures.push(...this.#wrong());
  }

  #wrong(): string[] {
    const wrong: string[] = [];
    const missing = this.#recorded - new Set(this.points).size;
    if (missing > this.#dropped)
      wrong.push(`${missing} points are missing, ${this.#dropped} reported as dropped`);
    const open = this.answers.filter(([result]) => result?.kind !== "answer").length;
    if (open > 0) wrong.push(`${open} RPCs have no answer`);
    const actual = this.#platform.attributes(this.#device!, "SHARED_SCOPE");
    for (const key of ["interval", "mode"])
      if (actual[key] !== this.seen.get(key)) wrong.push(`${key} is seen otherwise than it is`);
    return wrong;
  }

  async #end(): Promise<void> {
    const { failures } = this;
    for (const [nonce, runs] of this.runs) if (runs > 1) failures.push(`RPC ${nonce} ran ${runs} times`);
    const firsts = [...new Set(this.points)];
    if (firsts.some((n, i) => i > 0 && n < firsts[i - 1]!)) failures.push("points came out of order");
    await this.#agent?.stop();
    this.#host?.close();
    await until(() => this.#peers.every(({ closed }) => closed), performance.now() + LIMIT_MS);
    if (this.#peers.some(({ closed }) => !closed)) failures.push("connections are left after stop()");
    const token = this.#device?.credentials.credentialsId ?? "?";
    const leak = this.lines.find((line) => line.includes(token) || line.includes(SECRET));
    if (leak !== undefined) failures.push(`a secret is logged: ${leak}`);
    const problem = this.lines.find((line) => line.includes("net:") || line.includes("loop failed"));
    if (problem !== undefined) failures.push(`logged: ${problem}`);
  }
}

async function until(reached: () => boolean, end: number): Promise<void> {
  while (!reached() && performance.now() < end) await pause(LOOK_MS);
}
