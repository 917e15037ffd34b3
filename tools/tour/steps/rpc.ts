import { accepted } from "../requests.js";
import { until } from "../tour.js";
import { ask, check, deviceId, requestsSince, since, step, untilClient } from "./context.js";

export const twoWay = step("two-way RPC handled", async (tour, signal) => {
  const from = Date.now();
  const answer = await ask(tour, "setLed", { on: true });
  const took = since(from);
  check(answer.on === true && answer.colour === "green", "another answer than the LED's");
  // The next step turns it off again, and looks for that.
  await untilClient(tour, signal, "led", true);
  return took;
});

export const oneWay = step("one-way RPC handled", async (tour, signal) => {
  const from = Date.now();
  await tour.operator.rpc.oneWay(await deviceId(tour), "setLed", { on: false });
  await untilClient(tour, signal, "led", false);
  return since(from);
});

export const unknown = step("unknown method answered with an error", async (tour) => {
  const from = Date.now();
  const { error } = await ask(tour, "noSuchMethod", null);
  const { code } = (error ?? {}) as { code?: unknown };
  check(code === "METHOD_NOT_FOUND", "no METHOD_NOT_FOUND in the answer");
  return `${code}, ${since(from)}`;
});

export const clientSide = step("client-side RPC answered", async (tour, signal) => {
  const from = Date.now();
  const reply = await ask(tour, "callPlatform", { method: "getCurrentTime" });
  const { answer, ms } = reply;
  check(holdsTime(answer, from), `the device did not get the time, but ${JSON.stringify(reply)}`);
  await until(signal, async () =>
    (await requestsSince(tour, from)).find((entry) => accepted(entry, "POST", /^\*\*\*\/rpc$/)),
  );
  return `getCurrentTime in ${String(ms)} ms, by a rule chain, which a stock server lacks`;
});

/** A rule chain answers with the time as it likes: look for milliseconds anywhere in it. */
function holdsTime(answer: unknown, from: number): boolean {
  const found = /\d{13}/.exec(JSON.stringify(answer) ?? "");
  return found !== null && Math.abs(Number(found[0]) - from) < 60_000;
}
