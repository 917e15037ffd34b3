// What a board keeps of its lines: over a restart and a panic, with the place of the latter, and without its Wi-Fi's passwords.
import test, { type ExecutionContext } from "ava";
import { keepLog, type LogFunctions } from "../../../hosts/esp32/log/kept-log.js";
import { startBoard } from "../../../hosts/esp32/start.js";
import type { Agent } from "../../../src/index.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";
import { BUILT, FakeBoard } from "./board.js";

const [POWER_ON, SOFTWARE, PANIC] = [1, 3, 4];
const NAME = "mote-240ac4000102";
const PASSWORDS = ["correct horse", "second horse"];
const CONFIG = {
  baseUrl: "http://platform.test",
  wifi: { ssid: "home", password: PASSWORDS[0], second: { ssid: "other", password: PASSWORDS[1] } },
  provisioning: { key: KEY, secret: SECRET },
  intervalMs: 1000,
};

/** As native/log.c: memory that only the power clears, and a panic that is noted once. */
class Memory implements LogFunctions {
  readonly lines = new Uint8Array(4096);
  panic: readonly number[] | undefined;

  mote_log_read = (into: ArrayBuffer, at: number, length: number): void => {
    new Uint8Array(into).set(this.lines.subarray(at, at + length));
  };
  mote_log_write = (from: ArrayBuffer, at: number, length: number): void => {
    this.lines.set(new Uint8Array(from, 0, length), at);
  };
  mote_log_build = (into: ArrayBuffer): void => {
    new Uint8Array(into).fill(0xab);
  };
  mote_log_panic = (into: ArrayBuffer): number => {
    const { panic } = this;
    this.panic = undefined;
    if (!panic) return 0;
    new Uint8Array(into).fill(0xab, 0, 8);
    const view = new DataView(into);
    for (const [at, address] of panic.entries()) view.setUint32(8 + 4 * at, address, true);
    return 1;
  };
}

function rig(t: ExecutionContext) {
  const board = new FakeBoard(CONFIG);
  const platform = new FakePlatform(board.clock, board.net);
  const memory = new Memory();
  board.time = BUILT + 1000;
  board.onRadio = (radio) => {
    radio.onConnect = () => void board.clock.timer(500, () => radio.connection === 300 && radio.become(500));
  };
  let agent: Agent | undefined;
  t.teardown(async () => {
    const stopped = agent?.stop();
    await board.clock.advance(0);
    await stopped;
  });
  const start = async (reset: number, says: string, native = true): Promise<string[]> => {
    for (const peer of board.net.peers) if (!peer.closed) peer.onClose?.();
    void agent?.stop();
    const machine = board.boot(reset);
    if (native) Object.assign(machine.idf, memory);
    agent = startBoard(machine, (_, host) => host.log("warn", says), keepLog);
    await board.clock.advance(20_000);
    const results = platform.rpc(platform.device(NAME), "mote.log", { since: 0, bytes: 8192 });
    await board.clock.advance(5000);
    const [result] = results;
    if (result?.kind !== "answer") throw new Error(JSON.stringify(results));
    return (JSON.parse(result.text).lines as [number, number, string, string][]).map(([, , , text]) => text);
  };
  return { board, memory, start };
}

test("lines of before a panic are there after it, with its place and its build", async (t) => {
  const { memory, start } = rig(t);
  const first = await start(POWER_ON, "the sensor is gone");
  t.is(first[0], "start: power on");
  t.true(first.includes("the sensor is gone"));
  memory.panic = [0x42001234, 0x4038a0b2];
  const then = await start(PANIC, "here again");
  const from = then.indexOf("start: panic");
  t.true(then.indexOf("the sensor is gone") < from && from > 0, then.join("\n"));
  t.is(then[from + 1], "backtrace of abababababababab: 0x42001234 0x4038a0b2");
  t.true(then.includes("the run before ended with: panic"));
  t.is(then.filter((text) => text === "the run before ended with: panic").length, 1);
});

test("no password of the Wi-Fi is kept, the second one's neither", async (t) => {
  const { memory, start } = rig(t);
  await start(POWER_ON, `joined with ${PASSWORDS[0]}`);
  await start(SOFTWARE, `joined with ${PASSWORDS[1]}`);
  t.false(Buffer.from(memory.lines).toString("latin1").includes("horse"));
});

test("an image without native/log.c keeps its lines as long as it runs", async (t) => {
  const { start } = rig(t);
  t.true((await start(POWER_ON, "the sensor is gone", false)).includes("the sensor is gone"));
  t.false((await start(SOFTWARE, "here again", false)).includes("the sensor is gone"));
});
