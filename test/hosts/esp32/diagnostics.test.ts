// The diagnostics of a board. Its log is kept over a restart and a panic, and without its Wi-Fi's
// passwords.
import test, { type ExecutionContext } from "ava";
import { diagnostics, type LogFunctions } from "../../../hosts/esp32/diagnostics/diagnostics-board.js";
import { PANIC, POWER_ON, SOFTWARE } from "./board.js";
import { HOME, READY, rig } from "./rig.js";

const SECOND = { ssid: "other", password: "second horse" };

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

/** `start`: the texts that `mote.log` answers after a start whose application logs `says`. */
function logging(t: ExecutionContext, native = true) {
  const memory = new Memory();
  const { board, platform, boot, device } = rig(t, { ...READY, wifi: { ...HOME, second: SECOND } }, () => ({
    diagnostics: (machine, createHost) => {
      if (native) Object.assign(machine.idf, memory);
      return diagnostics.diagnostics(machine, createHost);
    },
  }));
  const start = async (reset: number, says: string): Promise<string[]> => {
    boot((_, host) => host.log("warn", says), reset);
    await board.clock.advance(20_000);
    const results = platform.rpc(device(), "mote.log", {});
    await board.clock.advance(5000);
    const [result] = results;
    if (result?.kind !== "answer") throw new Error(JSON.stringify(results));
    return (JSON.parse(result.text).lines as string[][]).map(([, , text]) => text!);
  };
  return { memory, start };
}

test("the lines of before a panic are kept, with its place and its build", async (t) => {
  const { memory, start } = logging(t);
  const first = await start(POWER_ON, "the sensor is gone");
  t.is(first[0], "start: power on");
  memory.panic = [0x42001234, 0x4038a0b2];
  const then = await start(PANIC, "here again");
  const from = then.indexOf("start: panic");
  t.true(then.indexOf("the sensor is gone") < from && from > 0, then.join("\n"));
  t.is(then[from + 1], "backtrace of abababababababab: 0x42001234 0x4038a0b2");
  t.is(then.filter((text) => text === "the run before ended with: panic").length, 1);
});

test("no password of a Wi-Fi is kept, the second one's neither", async (t) => {
  const { memory, start } = logging(t);
  await start(POWER_ON, `joined with ${HOME.password}`);
  await start(SOFTWARE, `joined with ${SECOND.password}`);
  t.false(Buffer.from(memory.lines).toString("latin1").includes("horse"));
});

test("an image without native/log.c keeps its lines as long as it runs", async (t) => {
  const { start } = logging(t, false);
  t.true((await start(POWER_ON, "the sensor is gone")).includes("the sensor is gone"));
  t.false((await start(SOFTWARE, "here again")).includes("the sensor is gone"));
});
