// A day of a device on a battery: a sample a minute, an upload an hour, asleep in between; a round
// trip takes 80 ms. The radio is on from the first byte to the last connection's end: joining a
// network comes on top. Counted is a day after the device has found its hours: 24 uploads.
import { Agent } from "../src/index.js";
import { FakeFlash } from "../test/fakes/flash.js";
import { FakeStore, fakeHost } from "../test/fakes/host.js";
import { BASE_URL, Counted, TOKEN } from "./counted.js";

const SAMPLES = 24 * 60;
const AN_HOUR = 60;
const LATENCY_MS = 40;

const reading = (n: number) => ({ temperature: (200 + (n % 97)) / 10, humidity: 40 + (n % 31) });

export async function batteryDay(): Promise<Record<string, number>> {
  const counted = new Counted(LATENCY_MS);
  const { clock, net } = counted;
  const [store, blocks] = [new FakeStore(), new FakeFlash(16 * 4096, 4096)];
  const time = {
    now: () => clock.now(),
    wall: () => undefined,
    timer: (ms: number, due: () => void) => clock.timer(ms, due),
  };
  let kept: string | undefined;
  let radioMs = 0;
  let n = 0;
  const wake = async (): Promise<string> => {
    const host = { ...fakeHost({ clock, network: net, store, blocks, seed: n + 1 }), clock: time };
    const agent = new Agent(host, { baseUrl: BASE_URL, token: TOKEN, telemetry: { batchPoints: AN_HOUR } });
    const wake = await clock.untilSettled(agent.runOnce({ sample: () => reading(n++), kept }));
    radioMs += wake.radioMs;
    kept = wake.kept;
    await clock.advance(wake.sleepMs);
    return wake.reason;
  };
  while ((await wake()) !== "schedule");
  const { requests, handshakes, bytes } = counted;
  radioMs = 0;
  for (let i = 0; i < SAMPLES; i++) await wake();
  return {
    requests: counted.requests - requests,
    handshakes: counted.handshakes - handshakes,
    bytes: counted.bytes - bytes,
    "radio ms": Math.round(radioMs),
  };
}
