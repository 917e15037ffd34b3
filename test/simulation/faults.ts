// All that can happen to a request, by name: the faults of simulated runs.
import type { Fault } from "../fakes/platform.js";
import { answer, type SeenRequest } from "../fakes/server.js";
import { type Blow, drip, SPOILED } from "./spoiled.js";

const PAGE = "<html><body>Please log in</body></html>";
const TEN_MB = 10_000_000;
const PIECE = new Uint8Array(16_384).fill(0x78);
const DEPTH = 10_000;

/** What happens to one request. */
export type Cause = (request: SeenRequest, blow: Blow) => Fault;

/**
 * The platform's own error bodies quote address and body: the access token, and the provisioning
 * secret.
 */
const quoting = ({ path, body }: SeenRequest) => `No static resource ${path}. Body: ${body.slice(0, 300)}`;

const TAKEN = Buffer.from("HTTP/1.1 200");

/**
 * Answers in the platform's place. What is posted the platform has taken: a device could not
 * distinguish this answer from the platform's.
 */
function instead(send: (request: SeenRequest, blow: Blow) => void): Cause {
  return (request, blow) => {
    if (request.method === "POST") {
      const answered = (bytes: Uint8Array) =>
        TAKEN.equals(bytes.subarray(0, TAKEN.length)) ? send(request, blow) : request.peer.send(bytes);
      return { answer: answered };
    }
    send(request, blow);
    return "hang";
  };
}

const WAITED = [0, 5000, 20_000, 25_000];
const ASKED = /[?]timeout=([0-9]+)/;

/**
 * A proxy answers in the place of a platform that powerCycles behind it: that has the request or
 * not, and takes its time or not.
 */
function proxied(code: number): Cause {
  return (request, { dice, clock }) => {
    const reply = () => request.reply(code, PAGE, dice.chance(0.5) ? { Connection: "close" } : undefined);
    if (dice.chance(0.4)) return { answer: reply };
    const asked = Number(ASKED.exec(request.path)?.[1] ?? 0);
    clock.timer(Math.min(asked, dice.pick(WAITED)), reply);
    return "hang";
  };
}

const ok = (body: unknown): Cause => instead(({ peer }) => peer.send(answer(200, body)));

function status(
  code: number,
  body?: (request: SeenRequest) => string,
  headers?: Record<string, string>,
): Cause {
  return (request) => {
    request.reply(code, body?.(request), headers);
    return "hang";
  };
}

const html = () => PAGE;
const away = { Location: "http://elsewhere.test/api/v1/x/telemetry" };

/** The statuses of the platform, of its proxy and of others on the way. */
const STATUSES: readonly [string, Cause][] = [
  ["204", instead(({ peer }) => peer.send("HTTP/1.1 204 \r\n\r\n"))],
  ["301", status(301, undefined, away)],
  ["302", status(302, html, away)],
  ["307", status(307, undefined, away)],
  ["400", status(400)],
  ["400 with a text", status(400, quoting, { Connection: "close" })],
  ["401", status(401)],
  ["403", status(403, () => "Device was deleted!")],
  ["404", status(404)],
  ["404 with a text", status(404, quoting)],
  ["405", status(405, quoting, { Allow: "GET" })],
  ["406", status(406)],
  ["408", status(408, undefined, { Connection: "close" })],
  ["413", status(413, () => '"Payload size exceeds the limit of 65536 bytes"', { Connection: "close" })],
  ["415", status(415, quoting)],
  ["422", status(422, quoting)],
  ["429", status(429, undefined, { "Retry-After": "7" })],
  ["500", status(500, undefined, { Connection: "close" })],
  ["500 with a text", status(500, quoting, { Connection: "close" })],
  ["501", status(501)],
  ["502", status(502, html)],
  ["503", status(503, () => '{"status":503,"message":null,"errorCode":2}', { Connection: "close" })],
  ["504", status(504, html)],
  ["511", status(511, html)],
];

/** Statuses by which the platform refuses what is posted. */
export const CONTENT = /^(status (400|403|413|422|500 with a text)|poisoned)/;

/** The connection takes what is sent, and nothing comes of it. */
export function deaden({ peer }: Pick<Blow, "peer">): void {
  Object.assign(peer, { send: () => {}, end: () => {}, onData: undefined });
}

function headWithoutEnd({ peer }: SeenRequest, blow: Blow): void {
  let sent = 0;
  peer.send("HTTP/1.1 200 \r\n");
  drip(blow, 1, () => (sent++ < 400 ? Buffer.from(`X-Filler-${sent}: ${"f".repeat(100)}\r\n`) : undefined));
}

function tenMegabytes({ peer }: SeenRequest, blow: Blow): void {
  const length = blow.dice.chance(0.5) ? `Content-Length: ${TEN_MB}\r\n` : "";
  peer.send(`HTTP/1.1 200 \r\n${length}\r\n{"x":"`);
  let left = TEN_MB;
  const piece = PIECE.subarray(0, blow.dice.pick([500, PIECE.length]));
  drip(blow, 10, () => {
    left -= piece.length;
    return left > 0 ? piece : undefined;
  });
}

function deep({ peer }: SeenRequest, { dice }: Blow): void {
  const [open, middle, end] = dice.pick([
    ["[", "", "]"],
    ['{"a":', "1", "}"],
  ] as const);
  const body = open.repeat(DEPTH) + middle + end.repeat(DEPTH);
  const inside = dice.pick([
    body,
    `{"shared":{"mode":${body}}}`,
    `{"id":1,"method":"echo","params":${body}}`,
  ]);
  peer.send(answer(200, inside));
}

function garbage({ peer, path }: SeenRequest, { dice }: Blow): void {
  const bytes = Buffer.alloc(1 + dice.below(300)).map(() => dice.below(256));
  peer.send(dice.chance(0.2) ? Buffer.concat([Buffer.from(path), bytes]) : bytes);
  if (dice.chance(0.3)) peer.end();
}

const ANSWERED: readonly [string, Cause][] = Object.entries(SPOILED).map(([name, spoil]) => [
  name,
  (_request, blow) => ({ answer: (bytes) => spoil(bytes, blow) }),
]);

/** Every fault that can happen to a request. */
export const CAUSES: Readonly<Record<string, Cause>> = {
  dropped: () => "drop",
  "closed without a word": ({ peer }) => {
    peer.end();
    return "hang";
  },
  hang: () => "hang",
  "half-open": ({ peer }) => {
    deaden({ peer });
    return "hang";
  },
  garbage: instead(garbage),
  "headers without end": instead(headWithoutEnd),
  "10 MB": instead(tenMegabytes),
  "JSON of depth 10,000": instead(deep),
  "{} for attributes": ok({}),
  "empty 200": ok(""),
  "foreign JSON": ok({ status: "ok", deleted: 7 }),
  "long JSON": ok({ shared: { x: "y".repeat(20_000) } }),
  "captive portal": instead(({ peer }) => peer.send(answer(200, PAGE))),
  ...Object.fromEntries(ANSWERED),
  "proxy 502": proxied(502),
  "proxy 503": proxied(503),
  "proxy 504": proxied(504),
  ...Object.fromEntries(STATUSES.map(([name, cause]) => [`status ${name}`, cause])),
};

/** A point that the platform will never have. */
export const isPoisoned = ({ path, body }: SeenRequest) =>
  path.endsWith("telemetry") && body.includes('"poison":');
export const poisoned: Cause = (request, { dice }) => {
  const [code, text] = dice.pick([
    [400, "Can't parse value"],
    [500, "com.google.gson.stream.MalformedJsonException: Expected name"],
    [413, '"Payload size exceeds the limit"'],
  ] as const);
  request.reply(code, text);
  return "hang";
};

/** After these nothing more comes: the device has to end the request by itself. */
export const ENDLESS: readonly string[] = [
  ...["hang", "half-open", "stalled", "answer swallowed", "length too long", "length absent, no end"],
  ...["chunks truncated", "headers without end", "10 MB"],
];
/** Instead of a connection. */
export const CONNECTS = ["refused", "DNS failure", "unreachable"] as const;
