// The official client of Improv against a board's own code on Node, on the clock that stands still.
import test from "ava";
import { officialClient } from "../shared/commissioning/official-client.js";
import { expectedOf, visit } from "../shared/commissioning/official-visit.js";
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
  const { client, received } = await officialClient((bytes) => modules.typed?.(bytes));
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
  t.true(slowestMs < 1000, `${slowestMs} ms`);
});
