// A device whose every job has something to do, and a platform that answers one kind of request at
// once, always in the same way.
import type { ExecutionContext } from "ava";
import { PACES, type PaceName } from "../../../src/platform/pace.js";
import type { SeenRequest } from "../../fakes/server.js";
import { type Rig, startRig } from "./rig.js";

const IMAGE = Buffer.alloc(200_000, "an image ");
const FILE = "http://files.test/file";
const MINUTE_MS = 60_000;

/** Requests by what they are for. `own`: how many the application sets off in a minute. */
export const KINDS = {
  telemetry: { pace: "telemetry", own: 90 },
  attributes: { pace: "attributes", own: 12 },
  attributePoll: { pace: "attributePoll", own: 0 },
  rpcPoll: { pace: "rpcPoll", own: 9 },
  rpcAnswer: { pace: "rpcPoll", own: 9 },
  application: { pace: "application", own: 15 },
  provisioning: { pace: "provisioning", own: 0 },
  firmware: { pace: "firmware", own: 0 },
} as const satisfies Record<string, { pace: PaceName; own: number }>;

export type Kind = keyof typeof KINDS;

export function kindOf({ method, path, body }: SeenRequest): Kind {
  if (path.startsWith("/file") || path.includes("/firmware?")) return "firmware";
  if (path.endsWith("/provision")) return "provisioning";
  if (path.endsWith("/telemetry")) return "telemetry";
  if (path.includes("/updates?")) return "attributePoll";
  if (path.includes("/rpc?")) return "rpcPoll";
  if (path.includes("/rpc/")) return "rpcAnswer";
  if (path.endsWith("/rpc") || path.endsWith("/claim")) return "application";
  // The application's own read; the agent's asks for its marker, too.
  if (path.endsWith("?sharedKeys=interval")) return "application";
  return method === "POST" && body === "" ? "application" : "attributes";
}

const json = (value: unknown) => (request: SeenRequest) => request.reply(200, value);
const status = (code: number, body?: unknown, headers?: Record<string, string>) => (request: SeenRequest) =>
  request.reply(code, body, headers);
const raw =
  (text: string) =>
  ({ peer }: SeenRequest) =>
    peer.send(text);

let news = 1;

export const ANSWERS: Readonly<Record<string, (request: SeenRequest) => void>> = {
  "200": status(200),
  "200 {}": json({}),
  "200 []": json([]),
  "200 1": json("1"),
  "200 a page": status(200, "<html>"),
  "200 both scopes": json({ client: { moteVersion: "mote" }, shared: { interval: 1, fw_title: "lamp" } }),
  "200 a change": json({ interval: 1 }),
  "200 a firmware change": json({ fw_version: "9.9.9" }),
  "200 a deletion": json({ deleted: ["interval", "fw_url"] }),
  "200 an RPC": json({ id: 0, method: "setLed", params: {} }),
  "200 an unknown RPC": json({ id: 5, method: "no", params: {} }),
  "200 SUCCESS": json({ status: "SUCCESS", credentialsType: "ACCESS_TOKEN", credentialsValue: "T9" }),
  "200 FAILURE": json({ status: "FAILURE", errorMsg: "no" }),
  "200 NOT_FOUND": json({ status: "NOT_FOUND", errorMsg: "no" }),
  "200 too long": status(200, `"${"x".repeat(100_000)}"`),
  "200 one byte": status(200, "a"),
  "200 cut": ({ peer }) => {
    peer.send("HTTP/1.1 200 \r\nContent-Length: 16384\r\n\r\na");
    peer.reset();
  },
  "200 closed": status(200, "", { Connection: "close" }),
  "204": status(204),
  "206": status(206, "a", { "Content-Range": "bytes 0-0/200000" }),
  "206 whole": status(206, "a", { "Content-Range": "bytes 0-0/1" }),
  ...Object.fromEntries(
    [
      301, 302, 304, 307, 400, 401, 403, 404, 405, 406, 408, 409, 411, 413, 415, 416, 417, 422, 428, 429, 431,
      451, 500, 501, 502, 503, 504, 505, 507, 508, 511, 599,
    ].map((code) => [String(code), status(code)]),
  ),
  "302 to itself": (request) => request.reply(302, "", { Location: request.path }),
  "400 with a text": status(400, "no"),
  "500 with a text": status(500, "no"),
  "429 Retry-After: 0": status(429, "", { "Retry-After": "0" }),
  "503 Retry-After: 0": status(503, "", { "Retry-After": "0" }),
  "503 Retry-After in the past": status(503, "", {
    Date: "Sun, 06 Nov 1994 08:49:37 GMT",
    "Retry-After": "Sun, 06 Nov 1994 08:49:36 GMT",
  }),
  "408 closed": status(408, "", { Connection: "close" }),
  "200 a new RPC": (request) => request.reply(200, { id: news++, method: "setLed", params: {} }),
  "200 a new change": (request) => request.reply(200, { interval: news++ }),
  "200 both scopes, new": (request) =>
    request.reply(200, {
      client: { moteVersion: "mote" },
      shared: { interval: news++, fw_version: `${news}` },
    }),
  "200 one byte of many": ({ peer }) => {
    peer.send("HTTP/1.1 200 \r\n\r\na");
    peer.end();
  },
  "206 one byte of many": ({ peer, headers }) => {
    const from = Number(headers.range?.slice("bytes=".length).split("-")[0]);
    peer.send(`HTTP/1.1 206 \r\nContent-Range: bytes ${from}-199999/200000\r\n\r\na`);
    peer.end();
  },
  "100 for ever": raw("HTTP/1.1 100 Continue\r\n\r\n"),
  "not HTTP": raw("SSH-2.0\r\n"),
  reset: ({ peer }) => peer.reset(),
  end: ({ peer }) => peer.end(),
};

/** Answers that once set off a request after the other, and those that a job takes for progress. */
export const HOT: readonly string[] = [
  "200",
  "200 a new RPC",
  "200 a new change",
  "200 one byte of many",
  "206 one byte of many",
  "401",
  "503",
  "503 Retry-After: 0",
  "reset",
];

/** Starts it, and gives every job something to do. `url`: the image is on a server of its own. */
async function busyDevice(t: ExecutionContext, connections: 1 | 2 | 3, url: boolean): Promise<Rig> {
  const rig = startRig(t);
  const firmware = { title: "lamp", version: "1.0.0", allowHttp: true, urlHosts: ["files.test"] };
  const agent = rig.agent({ connections, firmware });
  agent.attributes.subscribe("interval", () => {});
  agent.rpc.handle("setLed", () => true);
  agent.start();
  await rig.clock.advance(5000);
  const { core } = rig.platform;
  const { device } = rig;
  const { name, profileId } = device;
  const fields = { title: "lamp", version: "2.0.0", type: "FIRMWARE", profileId, tag: undefined } as const;
  const update = core.packages.create({ ...fields, url: url ? FILE : undefined });
  if (!url) {
    const file = { fileName: "lamp.bin", contentType: "application/octet-stream" };
    core.packages.upload(update, { ...file, bytes: IMAGE, algorithm: "SHA256", checksum: undefined });
  }
  core.updateDevice(device, { name, profileId, firmwareId: update.id });
  let n = 0;
  const work = () => {
    rig.clock.timer(1000, work);
    n++;
    agent.telemetry.record({ n });
    if (n % 5 === 0) agent.attributes.publish({ n });
    if (n % 7 === 0) rig.platform.rpc(device, "setLed", { n });
    if (n % 10 === 0) {
      agent.attributes.read({ sharedKeys: ["interval"] }).catch(() => {});
      agent.rpc.call("getTime", {}).catch(() => {});
    }
    if (n % 20 === 0) agent.claim().catch(() => {});
  };
  work();
  return rig;
}

/**
 * Runs it while `kind` (or every request) gets `answer`. Checks that no job sends more than its
 * budget.
 */
export async function keepsItsPace(
  t: ExecutionContext,
  connections: 1 | 2 | 3,
  kind: Kind | "all",
  name: string,
  minutes = 2,
): Promise<void> {
  const rig = await busyDevice(t, connections, name.startsWith("206"));
  const counts: { [K in Kind]?: number } = {};
  rig.platform.fault = (request) => {
    const own = kindOf(request);
    counts[own] = (counts[own] ?? 0) + 1;
    if (kind !== "all" && kind !== own) return undefined;
    ANSWERS[name]?.(request);
    return "hang";
  };
  for (let minute = 1; minute <= minutes; minute++) {
    await rig.clock.advance(MINUTE_MS);
    for (const [of, count] of Object.entries(counts) as [Kind, number][]) {
      const { pace, own } = KINDS[of];
      const { burst, perMinute } = PACES[pace];
      const most = burst + minute * (perMinute + own);
      t.true(
        count <= most,
        `${connections} connections, ${kind} ${name}: ${count} of ${of}, ${most} allowed`,
      );
    }
  }
  rig.powerOff();
}
