// The console's files and what guards them, without a browser.
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { hostname } from "node:os";
import { gzipSync } from "node:zlib";
import test from "ava";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { builtFile } from "../../../tools/project.js";

let platform: Platform;

test.before(async () => {
  platform = await startPlatform({ port: 0 });
});
test.after.always(() => platform.close());

test("the console is under 80 KiB compressed", (t) => {
  const files = ["index.html", "console.js", "console.css"].map((name) =>
    readFileSync(builtFile(`tools/platform/console/${name}`)),
  );
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  t.log(`${bytes} bytes compressed`);
  t.true(bytes < 80 * 1024);
});

test("what is not this machine's own page or address can't drive the REST", async (t) => {
  const login = (headers: Record<string, string>) =>
    fetch(`${platform.url}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ username: "tenant@thingsboard.org", password: "tenant" }),
    });
  t.is((await login({})).status, 200);
  t.is((await login({ origin: platform.url })).status, 200);
  for (const origin of ["http://evil.example", "null", "https://127.0.0.1:1"])
    t.is((await login({ origin })).status, 403, origin);
  const page = await fetch(platform.url);
  t.regex(page.headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/);
  t.is((await fetch(`${platform.url}/api/console/events`)).status, 401);
});

/** fetch sets the Host by itself. */
function statusAs(host: string, path: string, method: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { address } = platform;
    request({ ...address, path, method, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

test("a name elsewhere that was made to lead to this machine gets neither page nor REST", async (t) => {
  const { port } = platform.address;
  const calls = [
    ["GET", "/"],
    ["GET", "/console.js"],
    ["POST", "/api/auth/login"],
    ["GET", "/api/console/events"],
    ["GET", "/api/tenant/devices"],
    ["GET", "/no-such-path"],
  ] as const;
  const foreign = [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1.evil.example",
    "localhost.evil.example",
  ];
  for (const [method, path] of calls) {
    for (const host of foreign) t.is(await statusAs(host, path, method), 403, `${method} ${path} as ${host}`);
    for (const host of ["1.2.3.4@evil.example", "[::1].evil.example", "localhost:80:80"])
      t.is(await statusAs(host, path, method), 403, `${method} ${path} as ${host}`);
  }
  for (const host of [`127.0.0.1:${port}`, "localhost", `LOCALHOST:${port}`, `[::1]:${port}`, hostname()])
    t.is(await statusAs(host, "/", "GET"), 200, host);
});
