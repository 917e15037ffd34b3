// The official client of Improv against a board's own code on Node, on the clock that stands still.
import test, { type ExecutionContext } from "ava";
import { FrameReader, writeFrame } from "../../../extras/commissioning/improv-frames.js";
import { officialClient } from "../../extras/commissioning/official-client.js";
import { expectedOf, visit } from "../../extras/commissioning/official-visit.js";
import { HOME, NAME, PRODUCT, rig } from "./commissioning-rig.js";

const STEP_MS = 50;
/** Begins a frame. */
const NEWLINE = 0x0a;

test("the official client of Improv finds a new board, gives it a Wi-Fi, and finds it again once it runs", async (t) => {
  const { board, modules, platform, boot } = rig(t);
  const { onRadio } = board;
  board.onRadio = (radio) => {
    onRadio(radio);
    radio.scan = ({ onFound, onComplete }) => {
      onFound({ SSID: HOME.ssid, RSSI: -48, security: "wpa2_psk" });
      onFound({ SSID: "guests", RSSI: -71, security: "none" });
      onComplete();
    };
  };
  const { client, received, damaged } = await officialClient((bytes) => modules.typed?.(bytes));
  modules.onSerial = (bytes) => {
    // The log of a board goes by the same line, between frames, and all of it comes in any pieces.
    if (bytes[0] === NEWLINE) received(Buffer.from("info: half a line "));
    for (let at = 0; at < bytes.length; at += 7) received(bytes.slice(at, at + 7));
  };
  boot();
  const wifi = [HOME.ssid, HOME.password] as const;
  const visited = {
    client,
    about: `lamp 1.0.0 on ESP32, ${NAME}`,
    place: `${PRODUCT.baseUrl}/entities/devices?textSearch=${NAME}`,
    wifi,
    air: { near: "guests -71 false; home -48 true", wrong: [HOME.ssid, "wrong horse"] as const },
    ...{ bootMs: 1000, checkMs: 20_000 },
    running: async () => {
      await until(() => board.restarts > 0);
      boot();
      await until(() => platform.points(platform.device(NAME), "n").length > 0);
    },
  };
  // Real turns for the client's streams, among those of the board's clock.
  const until = async (reached: () => boolean): Promise<void> => {
    while (!reached()) await new Promise(setImmediate);
  };
  let isOver = false;
  const visiting = visit(visited).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await board.clock.advance(STEP_MS);
    await new Promise(setImmediate);
  }
  const { lines, slowestMs } = await visiting;
  t.deepEqual(lines, expectedOf(visited));
  t.deepEqual(damaged, []);
  t.true(slowestMs < 1000, `${slowestMs} ms`);
});

const [COMMAND, STATE_OF, INFO_OF] = [3, [2, 0], [3, 0]];
const OWNER = "TOKEN-of-the-owner";
/** It has all that it needs, and the token of a device whose name only the platform knows. */
const COMMISSIONED = {
  ...PRODUCT,
  ...{ provisioning: undefined, token: OWNER, wifi: HOME, commission: { button: 4 } },
};
const wifiFrame = (ssid: string, password: string): Uint8Array => {
  const texts = [ssid, password].flatMap((text) => [text.length, ...Buffer.from(text)]);
  return writeFrame(COMMAND, [1, texts.length, ...texts]);
};

/** A board with what it answers by Improv, frame by frame: its kind and data. Log and console go by the same line. */
function answering(t: ExecutionContext, config: Record<string, unknown>, isUsb = false) {
  const all = rig(t, config);
  const { board, modules } = all;
  const frames: string[] = [];
  let text = "";
  const reader = new FrameReader(
    board.clock,
    (bytes) => {
      text += Buffer.from(bytes).toString();
    },
    (kind, data) => frames.push(data ? `${kind}: ${Buffer.from(data).toString("latin1")}` : "damaged"),
  );
  modules.onSerial = (bytes) => reader.feed(bytes);
  let seen = 0;
  board.lines.push = (line) => {
    reader.feed(Buffer.from(`${line}\r\n`));
    return ++seen;
  };
  if (isUsb) {
    board.usb = { in: [], out: "", read: true };
    modules.shut = ["serial"];
  }
  const send = (frame: Uint8Array): void => {
    if (board.usb) board.usb.in.push(...frame);
    else modules.typed?.(frame);
  };
  /** What came within `ms`. */
  const ask = async (frame: Uint8Array, ms: number): Promise<string[]> => {
    send(frame);
    await board.clock.advance(ms);
    if (board.usb) reader.feed(Buffer.from(board.usb.out, "latin1"));
    if (board.usb) board.usb.out = "";
    return frames.splice(0);
  };
  return { ...all, ask, text: () => text };
}

test("once commissioned it answers state 4 and an address without a token, and takes nothing, until its button was held", async (t) => {
  const baseUrl = "https://platform.test";
  const { board, modules, boot, ask, text } = answering(t, { ...COMMISSIONED, baseUrl });
  const place = `${baseUrl}/entities/devices`;
  t.truthy(boot());
  await board.clock.advance(5000);
  const state = ["1: \u0004", `4: \u0002${String.fromCharCode(place.length + 1, place.length)}${place}`];
  t.deepEqual(await ask(writeFrame(COMMAND, STATE_OF), 0), state);
  t.false(state.join().includes(OWNER));
  t.deepEqual(await ask(wifiFrame("another", "password"), 0), ["2: \u00ff"]);
  const before = text();
  for (const line of ["set wifi another password", "set token other", "show", "reset", "help"])
    modules.type(line);
  await board.clock.advance(5000);
  t.is(text(), before);
  t.deepEqual([board.restarts, board.joins.at(-1)?.SSID], [0, HOME.ssid]);
  t.deepEqual(await ask(writeFrame(COMMAND, STATE_OF), 0), state);

  modules.pressed.add(4);
  t.is(boot(), undefined);
  await board.clock.advance(1100);
  t.is((await ask(writeFrame(COMMAND, STATE_OF), 0)).at(-1), "1: \u0002");
  t.deepEqual((await ask(wifiFrame("another", "password"), 0)).slice(0, 2), ["2: \0", "1: \u0003"]);
  // Asked while it looks for that network.
  t.deepEqual(await ask(writeFrame(COMMAND, STATE_OF), 0), ["1: \u0003"]);
  t.deepEqual(await ask(writeFrame(COMMAND, [5, 0]), 0), ["2: \u0002"]);
  t.deepEqual(await ask(writeFrame(COMMAND, STATE_OF), 30_000), ["1: \u0003", "1: \u0002", "2: \u0003"]);
});

for (const [way, isUsb] of [
  ["its serial line", false],
  ["its own USB", true],
] as const)
  for (const [what, config] of [
    ["a new board", PRODUCT],
    ["a board that is commissioned", COMMISSIONED],
  ] as const)
    test(`${what} answers by ${way} within a second of its start, whole frames among its log`, async (t) => {
      const { board, boot, ask } = answering(t, config, isUsb);
      // No network answers.
      board.onRadio = () => {};
      boot();
      const state = await ask(writeFrame(COMMAND, STATE_OF), 1000);
      t.is(state[0], config === PRODUCT ? "1: \u0002" : "1: \u0004");
      t.regex((await ask(writeFrame(COMMAND, INFO_OF), 1000)).join(), /lamp.1\.0\.0.ESP32/);
      for (let n = 0; n < 50; n++) {
        const heard = await ask(writeFrame(COMMAND, [n % 2 === 0 ? 2 : 5, 0]), 1000);
        t.true(heard.length > 0 && !heard.includes("damaged"), heard.join());
      }
    });
