// 10,000 points of three numbers on their way to the platform, every byte on the sockets counted. Clock and network stand still between events, so
// the counts are the same each time; the answers have the real server's head.
import { PlatformCore } from "../../hosts/platform/core/platform.js";
import { wireBytes } from "../../hosts/platform/device/messages.js";
import { DeviceApi } from "../../hosts/platform/device-api.js";
import { Agent } from "../../src/index.js";
import { FakeClock } from "../fakes/clock.js";
import { fakeHost } from "../fakes/host.js";
import { FakeNet } from "../fakes/net.js";
import { serve } from "../fakes/server.js";

const WALL = Date.UTC(2026, 0, 1);
/** As long as those the platform makes. */
const TOKEN = "A1B2C3D4E5F6G7H8I9J0";

export interface Point {
  readonly ts: number;
  readonly values: { readonly temperature: number; readonly humidity: number; readonly pressure: number };
}

/** What a weather station measures, once a second. */
export const points = (count: number): Point[] =>
  Array.from({ length: count }, (_, n) => ({
    ts: WALL - (count - n) * 1000,
    values: {
      temperature: (200 + (n % 97)) / 10,
      humidity: 40 + (n % 31),
      pressure: (100_000 + ((n * 7) % 3000)) / 100,
    },
  }));

export const plainBytes = (all: readonly Point[]): number => JSON.stringify(all).length;

/** The stand-in on sockets of memory. */
export class Counted {
  readonly clock = new FakeClock(WALL);
  readonly net = new FakeNet(this.clock);
  /** Both ways, whatever it was. */
  bytes = 0;
  /** Of every kind, and those that brought telemetry. */
  requests = 0;
  uploads = 0;
  readonly #core: PlatformCore;

  constructor() {
    const now = () => this.clock.wall() ?? 0;
    const timer = (ms: number, due: () => void) => this.clock.timer(ms, due);
    this.#core = new PlatformCore({ clock: { now, timer } });
    const api = new DeviceApi({ core: this.#core, as: "deployed" });
    this.#core.createDevice({ name: "station", profileId: this.#core.profiles.default.id }, TOKEN);
    this.net.onBytes = ({ length }) => {
      this.bytes += length;
    };
    serve(this.net, ({ peer, path: url, body, ...request }) => {
      this.requests++;
      if (url.endsWith("/telemetry")) this.uploads++;
      api.handle({ ...request, url, body: Buffer.from(body) }, (answer) => {
        peer.send(wireBytes(answer, now()).whole);
        if (answer.headers.Connection === "close") peer.end();
      });
    });
  }

  /** How many points of the station are stored. */
  get stored(): number {
    const series = this.#core.devices.byToken(TOKEN)?.series;
    return (
      series?.range("pressure", { startTs: 0, endTs: WALL * 2, limit: 1e9, ascending: true }).length ?? 0
    );
  }
}

/** An agent with the points waiting when it starts; it is over when the last was acknowledged. All that it does besides is counted as well. */
export async function byMote(all: readonly Point[], batchPoints: number): Promise<Counted> {
  const counted = new Counted();
  const { clock, net } = counted;
  const telemetry = { batchPoints, batchBytes: 65_536, bufferBytes: 4_194_304 };
  const agent = new Agent(fakeHost({ clock, network: net }), {
    baseUrl: "http://platform.test",
    token: TOKEN,
    telemetry,
  });
  for (const { ts, values } of all) agent.telemetry.record(values, { ts });
  let delivered = 0;
  agent.on("delivered", ({ points }) => {
    delivered += points;
  });
  agent.start();
  await clock.runUntil(() => delivered === all.length);
  if (counted.stored !== all.length) throw new Error(`${counted.stored} points were stored`);
  return counted;
}

/** What the usual clients do, with no header beyond Mote's: a connection that is kept, and one POST a point. */
export async function byOnePostEach(all: readonly Point[]): Promise<Counted> {
  const counted = new Counted();
  let answers = 0;
  const socket = counted.net.open("platform.test", 80, false, (what) => {
    if (what !== "readable") return;
    if (socket.read(new Uint8Array(4096)) > 0) answers++;
  });
  await counted.clock.runUntil(() => counted.net.peers.length === 1);
  await counted.clock.advance(10);
  for (const [n, point] of all.entries()) {
    const body = JSON.stringify(point);
    const head = `POST /api/v1/${TOKEN}/telemetry HTTP/1.1\r\nHost: platform.test\r\nUser-Agent: mote\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(Buffer.from(head + body));
    await counted.clock.runUntil(() => answers > n);
  }
  if (counted.stored !== all.length) throw new Error(`${counted.stored} points were stored`);
  return counted;
}
