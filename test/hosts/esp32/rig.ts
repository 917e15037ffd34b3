// A board's own program, from power-on: the Wi-Fi "home" in reach, and a platform in it.
import type { ExecutionContext } from "ava";
import { writeFrame } from "../../../extras/commissioning/improv-frames.js";
import type { Application } from "../../../hosts/device/application.js";
import { commissionBy } from "../../../hosts/esp32/commissioning/configuration.js";
import { type Extras, startBoard } from "../../../hosts/esp32/start.js";
import type { Agent } from "../../../src/index.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";
import { BUILT, FakeBoard, NO_NETWORK, POWER_ON, WRONG_PASSWORD } from "./board.js";

export const NAME = "mote-240ac4000102";
export const HOME = { ssid: "home", password: "correct horse" };
/** One firmware for all of a product's devices. */
export const PRODUCT = {
  baseUrl: "http://platform.test",
  provisioning: { key: KEY, secret: SECRET },
  firmware: { title: "lamp", version: "1.0.0", allowHttp: true },
  intervalMs: 1000,
};
/** It knows its Wi-Fi, too. */
export const READY = { ...PRODUCT, wifi: HOME };
export const BARE = { firmware: PRODUCT.firmware };
export const PAGE = "GET / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n";

export const sampling: Application = (agent) => agent.telemetry.record({ n: 1 });
export const silent: Application = () => {};

/** Improv's frame that gives the device a Wi-Fi. */
export function wifiFrame(ssid: string, password: string): Uint8Array {
  const texts = [ssid, password].flatMap((text) => [text.length, ...Buffer.from(text)]);
  return writeFrame(3, [1, texts.length, ...texts]);
}

const commissioned = ({ modules }: FakeBoard): Extras => ({
  commission: (machine, host, go) => commissionBy(modules, machine, host, go),
});
/** An image without commissioning. */
export const plain = (): Extras => ({});

/** `boot`: by power, or as ESP-IDF's reason says. */
export function rig(
  t: ExecutionContext,
  config: Record<string, unknown> = PRODUCT,
  extras: (board: FakeBoard) => Extras = commissioned,
) {
  const board = new FakeBoard(config);
  const platform = new FakePlatform(board.clock, board.net);
  board.time = BUILT + 1000;
  board.hears = ({ SSID, password }) =>
    SSID !== HOME.ssid ? NO_NETWORK : password === HOME.password ? 0 : WRONG_PASSWORD;
  let agent: Agent | undefined;
  const stop = async (): Promise<void> => {
    await Promise.all([agent?.stop(), board.clock.advance(3000)]);
  };
  t.teardown(stop);
  const boot = (application = sampling, reset = POWER_ON): Agent | undefined => {
    for (const peer of board.net.peers) if (!peer.closed) peer.onClose?.();
    void agent?.stop();
    agent = startBoard(board.boot(reset), application, extras(board));
    return agent;
  };
  const device = () => platform.device(NAME);
  const values = (key: string): unknown[] => platform.points(device(), key).map(({ value }) => value);
  return { board, modules: board.modules, platform, boot, stop, device, values };
}

export type Rig = ReturnType<typeof rig>;
