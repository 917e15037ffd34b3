// `mote report` in processes of its own, against a server that a test plays.
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { listen } from "../../fakes/listen.js";
import { scratch } from "../scratch.js";
import { interrupt, killAll, launch, mote, type Result } from "./commands.js";

test.after.always(killAll);

const VIEW = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const REPORT =
  '{"columnLabels":["a","b"],"dataTable":[{"a":"1760000000000","b":1},{"a":"1760000000001","b":2}]}';
const PASSWORD = "pa55w0rd";

interface Server {
  readonly url: string;
  readonly at: string;
  /** Reports asked for. */
  readonly asked: { url: string; jwt: string | undefined; body: string }[];
  run(args?: string[], env?: Record<string, string>): Promise<Result>;
}

type Answer = (response: ServerResponse, count: number, request: IncomingMessage) => void;

/** Logs everybody in who knows the password; `answer` answers what is asked for a report. */
async function serve(t: ExecutionContext, answer: Answer): Promise<Server> {
  const asked: Server["asked"] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (text) => (body += text));
    request.on("end", () => {
      if (request.url === "/api/auth/login") {
        const good = JSON.parse(body).password === PASSWORD;
        response
          .writeHead(good ? 200 : 401)
          .end(JSON.stringify({ token: "good-token", refreshToken: "refresh" }));
        return;
      }
      asked.push({ url: request.url!, jwt: request.headers.jwt as string | undefined, body });
      answer(response, asked.length, request);
    });
  });
  const url = `http://127.0.0.1:${await listen(server, t)}`;
  const at = scratch();
  t.teardown(() => server.closeAllConnections());
  const run: Server["run"] = (args = [], env = {}) =>
    mote(["report", "--url", url, "--view", VIEW, "--username", "me", ...args], {
      MOTE_PLATFORM_PASSWORD: PASSWORD,
      MOTE_LOGIN: join(at, "login.json"),
      ...env,
    });
  return { url, at, asked, run };
}

const whole: Answer = (response) =>
  response.writeHead(200, { "content-type": "application/json" }).end(REPORT);

test.serial("a report with range and filters", async (t) => {
  const { asked, run } = await serve(t, whole);
  const filters = [
    "--filter",
    "Building=North",
    "--filter",
    "Building=a=b",
    "--filter",
    "Floor=",
    "--filter",
    "constructor=x",
  ];
  const range = ["--from", "1760000000000", "--to", "2025-10-11T00:00Z"];
  const { code, out, err } = await run([...filters, ...range]);
  t.deepEqual([code, out, err], [0, "a,b\r\n1760000000000,1\r\n1760000000001,2\r\n", ""]);
  t.deepEqual(JSON.parse(asked[0]!.body), {
    viewConfigId: VIEW,
    rangeStartTs: 1_760_000_000_000,
    rangeEndTs: Date.UTC(2025, 9, 11),
    filters: { Building: ["North", "a=b"], Floor: [""], constructor: ["x"] },
  });
  t.is(asked[0]!.jwt, "good-token");
  // A relative time looks like an option.
  const before = Date.now();
  t.is((await run(["--from", "-7d", "--api", "trendz"])).code, 0);
  const { rangeStartTs } = JSON.parse(asked[1]!.body);
  t.true(rangeStartTs >= before - 7 * 86_400_000 && rangeStartTs <= Date.now() - 7 * 86_400_000);
  t.is(asked[1]!.url, "/apiTrendz/publicApi/buildReport");
});

const ENDS: [status: number, code: number, message: RegExp][] = [
  [400, 3, /answered 400 \(does the view have these filters\?/],
  [403, 3, /the JWT is invalid or has expired \(403\)/],
  [404, 3, /no such view or API \(404\) \(check --view and --url; older servers need --api trendz\)/],
  [415, 3, /does not accept JSON here \(415\) \(is --url the analytics server\?\)/],
  [429, 7, /too many requests \(429\) until the time limit \(later, or with a longer --deadline\)/],
  [500, 1, /the platform answered 500/],
];

test.serial("each status has its message and its exit code", async (t) => {
  await Promise.all(
    ENDS.map(async ([status, expected, message]) => {
      const { run } = await serve(t, (response) =>
        response.writeHead(status, { "retry-after": "60" }).end(PASSWORD),
      );
      const { code, out, err } = await run(["--deadline", "50s"]);
      t.deepEqual([code, out], [expected, ""], `${status}`);
      t.regex(err, message);
      t.notRegex(err, /pa55w0rd|good-token/);
    }),
  );
});

test.serial("exits with 3 for a wrong password, 6 without rows, 1 without a server", async (t) => {
  const { run } = await serve(t, (response) => response.end('{"columnLabels":["a"],"dataTable":[]}'));
  const wrong = await run([], { MOTE_PLATFORM_PASSWORD: "wr0ng" });
  t.deepEqual([wrong.code, wrong.err], [3, "error: login: wrong user name or password (401)\n"]);
  const none = await run();
  t.deepEqual(
    [none.code, none.out, none.err],
    [6, "a\r\n", "error: the report has no rows: check --from, --to and --filter\n"],
  );
  const gone = createServer();
  const port = await listen(gone, t);
  await new Promise((closed) => gone.close(closed));
  const away = await mote(["report", "--url", `http://127.0.0.1:${port}`, "--jwt", "x", "--view", VIEW]);
  t.deepEqual([away.code, away.err], [1, "error: report: connection refused\n"]);
});

test.serial("wrong usage is reported before anything is sent", async (t) => {
  const { asked, run } = await serve(t, whole);
  const wrong: [string[], RegExp][] = [
    [["--view", "x"], /UUID of a view, or its link/],
    [["--from", "today", "--to", "yesterday"], /--from must not be later than --to/],
    [["--url", "ftp://x"], /url must be a string that begins with http/],
    [["--jwt", "x"], /use either --jwt or --username/],
  ];
  await Promise.all(
    wrong.map(async ([args, message]) => {
      const { code, err } = await run(args);
      t.is(code, 2, args.join(" "));
      t.regex(err, message);
    }),
  );
  t.deepEqual(asked, []);
});

test.serial("Ctrl-C in the middle ends with 130", async (t) => {
  const { url } = await serve(t, (response) => {
    response.writeHead(200).write(`{"columnLabels":["a"],"dataTable":[${'{"a":1},'.repeat(50_000)}`);
  });
  const args = ["report", "--url", url, "--view", VIEW, "--jwt", "x"];
  const { code, err } = await interrupt(args, {}, ({ out }) => out.length > 0);
  t.is(code, 130);
  t.is(err, "error: interrupted\n");
});

test.serial("ends with 0 when its reader closes the pipe", async (t) => {
  const { url } = await serve(t, (response) => {
    response.writeHead(200).write('{"columnLabels":["a"],"dataTable":[');
    const more = (): void => {
      if (!response.destroyed) response.write('{"a":1},'.repeat(20_000), () => setImmediate(more));
    };
    more();
  });
  const child = launch(["report", "--url", url, "--view", VIEW, "--jwt", "x"]);
  let err = "";
  child.stderr?.on("data", (text) => (err += text));
  await once(child.stdout!, "data");
  child.stdout?.destroy();
  t.deepEqual(await once(child, "close"), [0, null]);
  t.is(err, "");
});

test.serial("the session of mote login is used where it belongs, and nowhere else", async (t) => {
  const { url, at, asked } = await serve(t, whole);
  const login = {
    format: 1,
    url,
    username: "me",
    session: { token: "kept-token", refreshToken: "kept-refresh" },
  };
  const env = { MOTE_LOGIN: join(at, "login.json") };
  writeFileSync(env.MOTE_LOGIN, JSON.stringify(login));
  t.is((await mote(["report", "--view", VIEW], env)).code, 0);
  t.is(asked[0]?.jwt, "kept-token");
  const other = await serve(t, whole);
  const { code, err } = await mote(["report", "--view", VIEW, "--url", other.url], env);
  t.deepEqual([code, other.asked], [2, []]);
  t.true(err.includes(`the saved login is for ${url}: --auth-url ${url} if`), err);
  const elsewhere = ["report", "--view", VIEW, "--url", other.url, "--auth-url", `${url}/`];
  // The name of the environment is the one that is logged in.
  t.is((await mote(elsewhere, { ...env, MOTE_PLATFORM_USERNAME: "me" })).code, 0);
  t.is(other.asked[0]?.jwt, "kept-token");
  t.true(existsSync(env.MOTE_LOGIN));
});
