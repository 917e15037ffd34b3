// Improv against a board's own program on Node, on a fake clock; chip case "improv" runs it on XS.
import test, { type ExecutionContext } from "ava";
import { FrameReader, writeFrame } from "../../../extras/commissioning/improv-frames.js";
import { officialClient } from "../../extras/commissioning/official-client.js";
import { expectedOf, visit } from "../../extras/commissioning/official-visit.js";
import { HOME, NAME, PRODUCT, type Rig, rig, wifiFrame } from "./rig.js";

const [COMMAND, STATE_OF] = [3, [2, 0]];
const OWNER = "TOKEN-of-the-owner";
/** It has all that it needs, and the token of a device whose name only the platform knows. */
const COMMISSIONED = {
  ...PRODUCT,
  ...{ provisioning: undefined, token: OWNER, wifi: HOME, commission: { button: 4 } },
};

/** The way to a board by its serial line or by its own USB. `received`: all that comes from it. */
function lineTo({ board, modules }: Rig, isUsb: boolean, received: (bytes: Uint8Array) => void) {
  if (isUsb) {
    board.usb = { in: [], out: "", read: true };
    modules.shut = ["serial"];
  } else modules.onSerial = received;
  return {
    send: (bytes: Uint8Array): void => {
      if (board.usb) board.usb.in.push(...bytes);
      else modules.typed?.(bytes);
    },
    pump: (): void => {
      if (!board.usb) return;
      const { out } = board.usb;
      board.usb.out = "";
      if (out !== "") received(Buffer.from(out, "latin1"));
    },
  };
}

for (const isUsb of [false, true])
  test(`the official client commissions a new board by its ${isUsb ? "own USB" : "serial line"}, and finds it again`, async (t) => {
    const all = rig(t);
    const { board, platform, boot } = all;
    board.near = [
      { SSID: HOME.ssid, RSSI: -48, password: HOME.password },
      { SSID: "guests", RSSI: -71 },
    ];
    // The board's log comes by the same line, between frames, and all of it in pieces.
    const { client, received, damaged } = await officialClient((bytes) => line.send(bytes));
    const line = lineTo(all, isUsb, (bytes) => {
      if (bytes[0] === 0x0a) received(Buffer.from("info: half a line "));
      for (let at = 0; at < bytes.length; at += 7) received(bytes.slice(at, at + 7));
    });
    boot();
    const until = async (reached: () => boolean): Promise<void> => {
      while (!reached()) await new Promise(setImmediate);
    };
    const visited = {
      client,
      about: `lamp 1.0.0 on ESP32, ${NAME}`,
      place: `${PRODUCT.baseUrl}/entities/devices?textSearch=${NAME}`,
      wifi: [HOME.ssid, HOME.password] as const,
      air: { near: "guests -71 false; home -48 true", wrong: [HOME.ssid, "wrong horse"] as const },
      ...{ bootMs: 1000, checkMs: 20_000 },
      running: async () => {
        await until(() => board.restarts > 0);
        boot();
        await until(() => platform.points(platform.device(NAME), "n").length > 0);
      },
    };
    let isOver = false;
    const visiting = visit(visited).finally(() => {
      isOver = true;
    });
    // Real turns for the client's streams, among those of the board's clock.
    while (!isOver) {
      await board.clock.advance(50);
      line.pump();
      await new Promise(setImmediate);
    }
    const { lines, slowestMs } = await visiting;
    t.deepEqual(lines, expectedOf(visited));
    t.deepEqual(damaged, []);
    t.true(slowestMs < 1000, `${slowestMs} ms`);
  });

/** A board with the frames that it answers: kind and data. The log uses the same line. */
function answering(t: ExecutionContext, config: Record<string, unknown>) {
  const all = rig(t, config);
  const { board } = all;
  const frames: string[] = [];
  const reader = new FrameReader(board.clock, (kind, data) =>
    frames.push(data ? `${kind}: ${Buffer.from(data).toString("latin1")}` : "damaged"),
  );
  const { send } = lineTo(all, false, (bytes) => reader.feed(bytes));
  let seen = 0;
  board.lines.push = (line) => {
    reader.feed(Buffer.from(`${line}\r\n`));
    return ++seen;
  };
  /** What comes within `ms`. */
  const ask = async (data: Uint8Array | number[], ms: number): Promise<string[]> => {
    send(data instanceof Uint8Array ? data : writeFrame(COMMAND, data));
    await board.clock.advance(ms);
    return frames.splice(0);
  };
  return { ...all, ask };
}

test("a commissioned board answers state 4 and takes nothing until its button is held", async (t) => {
  const baseUrl = "https://platform.test";
  const { board, modules, boot, ask } = answering(t, { ...COMMISSIONED, baseUrl });
  const place = `${baseUrl}/entities/devices`;
  t.truthy(boot());
  await board.clock.advance(5000);
  const state = ["1: \u0004", `4: \u0002${String.fromCharCode(place.length + 1, place.length)}${place}`];
  t.deepEqual(await ask(STATE_OF, 0), state);
  t.deepEqual(await ask(wifiFrame("another", "password"), 0), ["2: \u00ff"]);
  await board.clock.advance(5000);
  t.deepEqual([board.restarts, board.joins.at(-1)?.SSID], [0, HOME.ssid]);
  t.deepEqual(await ask(STATE_OF, 0), state);

  modules.pressed.add(4);
  t.is(boot(), undefined);
  await board.clock.advance(1100);
  t.is((await ask(STATE_OF, 0)).at(-1), "1: \u0002");
  t.deepEqual((await ask(wifiFrame("another", "password"), 0)).slice(0, 2), ["2: \0", "1: \u0003"]);
  // While it looks for that network.
  t.deepEqual(await ask(STATE_OF, 0), ["1: \u0003"]);
  t.deepEqual(await ask([5, 0], 0), ["2: \u0002"]);
  t.deepEqual(await ask(STATE_OF, 30_000), ["1: \u0003", "1: \u0002", "2: \u0003"]);
});
