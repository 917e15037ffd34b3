// A day of a device on a battery: a sample a minute, an upload an hour, asleep in between; a round trip takes 80 ms. The radio is on from the first
// byte to the last connection's end: what joining a network takes comes on top, once for each wake that connects, and for https two round trips more.
// The alternative wakes as often and sends its point each time, on a connection of its own, and hears of nothing. The limit is one request an hour
// with all points in it. Counted is a day after the device has found its hours: 24 uploads.
import { Agent } from "../../src/index.js";
import { FakeFlash } from "../../test/fakes/flash.js";
import { FakeStore, fakeHost } from "../../test/fakes/host.js";
import { BASE_URL, Counted, TOKEN } from "../counted.js";
import type { Row } from "../row.js";

const MINUTE_MS = 60_000;
const SAMPLES = 24 * 60;
const AN_HOUR = 60;
const LATENCY_MS = 40;

interface Day {
  readonly requests: number;
  readonly handshakes: number;
  readonly bytes: number;
  readonly radioMs: number;
  readonly points: number;
}

const reading = (n: number) => ({ temperature: (200 + (n % 97)) / 10, humidity: 40 + (n % 31) });

async function byMote(): Promise<Day> {
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
  let points = 0;
  let n = 0;
  const wake = async (): Promise<string> => {
    const host = { ...fakeHost({ clock, network: net, store, blocks, seed: n + 1 }), clock: time };
    const agent = new Agent(host, { baseUrl: BASE_URL, token: TOKEN, telemetry: { batchPoints: AN_HOUR } });
    const wake = await clock.untilSettled(agent.runOnce({ sample: () => reading(n++), kept }));
    radioMs += wake.radioMs;
    points += wake.delivered;
    kept = wake.kept;
    await clock.advance(wake.sleepMs);
    return wake.reason;
  };
  while ((await wake()) !== "schedule");
  const { requests, handshakes, bytes } = counted;
  [radioMs, points] = [0, 0];
  for (let i = 0; i < SAMPLES; i++) await wake();
  return {
    requests: counted.requests - requests,
    handshakes: counted.handshakes - handshakes,
    bytes: counted.bytes - bytes,
    radioMs,
    points,
  };
}

/** Requests with so many points each, on a connection of their own. */
async function byPosts(each: number): Promise<Day> {
  const counted = new Counted(LATENCY_MS);
  const { clock, net } = counted;
  let radioMs = 0;
  for (let n = 0; n < SAMPLES; n += each) {
    await clock.advance(MINUTE_MS * each);
    const from = clock.now();
    const points = Array.from({ length: each }, (_, i) => ({
      ts: (clock.wall() ?? 0) - (each - i) * MINUTE_MS,
      values: reading(n + i),
    }));
    const body = JSON.stringify(each === 1 ? points[0] : points);
    const head = `POST /api/v1/${TOKEN}/telemetry HTTP/1.1\r\nHost: platform.test\r\nUser-Agent: mote\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    let over = false;
    const socket = net.open("platform.test", 80, false, (what) => {
      if (what === "opened") socket.write(Buffer.from(head + body));
      else if (what === "readable") over = socket.read(new Uint8Array(4096)) > 0;
    });
    await clock.runUntil(() => over);
    socket.close();
    radioMs += clock.now() - from;
  }
  const { requests, handshakes, bytes } = counted;
  return { requests, handshakes, bytes, radioMs, points: counted.stored("humidity") };
}

export const row: Row = {
  id: 17,
  name: "a day on a battery: a sample a minute, an upload an hour",
  quick: true,
  exact: async () => {
    const { requests, handshakes, bytes, radioMs } = await byMote();
    return { requests, handshakes, bytes, "radio ms": Math.round(radioMs) };
  },
  run: async () => {
    const [mote, alternative, limit] = [await byMote(), await byPosts(1), await byPosts(AN_HOUR)];
    const per = ({ radioMs, points }: Day) => radioMs / points;
    return [
      ...(["requests", "handshakes", "bytes"] as const).map((unit) => ({
        unit,
        mote: mote[unit],
        alternative: alternative[unit],
        limit: limit[unit],
        ratio: mote[unit] / alternative[unit],
        target: 1 / 4,
      })),
      {
        unit: "ms of radio a point",
        mote: per(mote),
        alternative: per(alternative),
        limit: per(limit),
        ratio: per(mote) / per(alternative),
        target: 1 / 4,
      },
    ];
  },
};
