// 10,000 points of three numbers on their way to the platform.
import { Agent } from "../src/index.js";
import { fakeHost } from "../test/fakes/host.js";
import { BASE_URL, Counted, TOKEN, WALL } from "./counted.js";

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

/** An agent with the points waiting when it starts; it is over when the last was acknowledged. All that it does besides is counted as well. */
export async function byMote(all: readonly Point[], batchPoints: number): Promise<Counted> {
  const counted = new Counted();
  const { clock, net } = counted;
  const telemetry = { batchPoints, batchBytes: 65_536, bufferBytes: 4_194_304 };
  const agent = new Agent(fakeHost({ clock, network: net }), { baseUrl: BASE_URL, token: TOKEN, telemetry });
  for (const { ts, values } of all) agent.telemetry.record(values, { ts });
  let delivered = 0;
  agent.on("delivered", ({ points }) => {
    delivered += points;
  });
  agent.start();
  await clock.runUntil(() => delivered === all.length);
  return checked(counted, all.length);
}

/** What the usual clients do, with no header beyond Mote's: a connection that is kept as long as the platform keeps it, and one POST a point. */
export async function byOnePostEach(all: readonly Point[]): Promise<Counted> {
  const counted = new Counted();
  const { clock, net } = counted;
  let answers = 0;
  let isOpen = false;
  let socket = { write: (_: Uint8Array) => 0, read: (_: Uint8Array) => 0 };
  const open = () => {
    socket = net.open("platform.test", 80, false, (what) => {
      isOpen = what !== "closed";
      if (what === "readable" && socket.read(new Uint8Array(4096)) > 0) answers++;
    });
  };
  for (const [n, point] of all.entries()) {
    if (!isOpen) open();
    await clock.runUntil(() => isOpen);
    const body = JSON.stringify(point);
    const head = `POST /api/v1/${TOKEN}/telemetry HTTP/1.1\r\nHost: platform.test\r\nUser-Agent: mote\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(Buffer.from(head + body));
    await clock.runUntil(() => answers > n);
    await clock.advance(0);
  }
  return checked(counted, all.length);
}

function checked(counted: Counted, points: number): Counted {
  const stored = counted.stored("pressure");
  if (stored !== points) throw new Error(`of ${points} points ${stored} were stored`);
  return counted;
}
