// A board that commissions itself, in front of a Wi-Fi called "home" and a platform.
import type { ExecutionContext } from "ava";
import { commissionBy } from "../../../hosts/esp32/commissioning/configuration.js";
import { startBoard } from "../../../hosts/esp32/start.js";
import type { Application } from "../../../hosts/shared/application.js";
import type { Agent } from "../../../src/index.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";
import { BUILT, FakeBoard } from "./board.js";

export const NAME = "mote-240ac4000102";
export const HOME = { ssid: "home", password: "correct horse" };
/** One firmware for all of a product's devices. */
export const PRODUCT = {
  baseUrl: "http://platform.test",
  provisioning: { key: KEY, secret: SECRET },
  firmware: { title: "lamp", version: "1.0.0", allowHttp: true },
  intervalMs: 1000,
};
export const BARE = { firmware: PRODUCT.firmware };
export const [WRONG_PASSWORD, NO_NETWORK] = [15, 201];
/** ESP-IDF's reasons of a start. */
export const [POWER_ON, SOFTWARE] = [1, 3];

export const sampling: Application = (agent) => agent.telemetry.record({ n: 1 });

/** `boot`: power, or a restart that the board asked for. */
export function rig(t: ExecutionContext, config: Record<string, unknown> = PRODUCT) {
  const board = new FakeBoard(config);
  const platform = new FakePlatform(board.clock, board.net);
  board.time = BUILT + 1000;
  const joins = (options: { SSID: string; password?: string } | undefined): number =>
    options?.SSID !== HOME.ssid ? NO_NETWORK : options.password === HOME.password ? 0 : WRONG_PASSWORD;
  board.onRadio = (radio) => {
    radio.onConnect = () =>
      void board.clock.timer(500, () => {
        if (radio.connection !== 300) return;
        board.reason = joins(radio.asked.at(-1));
        radio.become(board.reason === 0 ? 500 : 200);
      });
  };
  let agent: Agent | undefined;
  t.teardown(async () => {
    const stopped = agent?.stop();
    await board.clock.advance(0);
    await stopped;
  });
  const boot = (application = sampling, reset = POWER_ON): Agent | undefined => {
    for (const peer of board.net.peers) if (!peer.closed) peer.onClose?.();
    void agent?.stop();
    agent = startBoard(board.boot(reset), application, {
      commission: (machine, host, go) => commissionBy(board.modules, machine, host, go),
    });
    return agent;
  };
  return { board, modules: board.modules, platform, boot };
}
