// `mote run --commission`, as its owner meets it: a page on this machine, and then a device that runs.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { end, killAll, launch, mote, processOutput } from "../cli/commands.js";
import { platformFor } from "../platform-for.js";
import { rawRequest } from "../raw-http.js";
import { scratch } from "../scratch.js";
import { checkedPage, fillIn, setupPage } from "../setup-page.js";

const place = scratch();
const PROVISION = { key: "key-of-the-product", secret: "secret-of-the-product" };
test.after.always(killAll);

test.serial("the page brings a device online; the next run needs no settings", async (t) => {
  const platform = await platformFor(t, { profile: PROVISION });
  const state = join(place, "greenhouse");
  const args = ["run", "--state", state, "--device-name", "greenhouse-7", "--log", "json"];
  const child = launch([...args, "--commission"]);
  const eventLog = processOutput(child);
  const { url } = (await eventLog.first("commissioning")) as unknown as { url: string };
  t.regex(url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  t.notRegex(await setupPage(url), /Wi-Fi/);
  const { port } = new URL(url);
  for (const [host, status] of [
    ["localhost", 200],
    ["evil.example", 403],
  ] as const) {
    const headers = { host: `${host}:${port}` };
    t.is((await rawRequest({ host: "127.0.0.1", port, path: "/", headers })).status, status, host);
  }
  await fillIn(url, { url: platform.url, ...PROVISION, secret: "wrong" });
  t.regex(await checkedPage(url), /Wrong provisioning key or secret\./);
  await fillIn(url, { secret: PROVISION.secret });
  t.regex(await checkedPage(url), /Connected\./);
  await eventLog.first("commissioned");
  await eventLog.first("online");
  t.truthy(platform.core.devices.byName("greenhouse-7"));
  await t.throwsAsync(setupPage(url));
  await end(child);
  t.is(eventLog.events.at(-1)?.event, "stopped");
  const next = launch([...args, "--commission"]);
  const again = processOutput(next);
  await again.first("online");
  await end(next);
  t.deepEqual(again.named("commissioning"), []);
  const elsewhere = await mote(["run", "--state", state, "--url", "http://127.0.0.1:1"]);
  t.is(elsewhere.code, 2, "what was kept for one platform is not sent to another");
  t.regex(elsewhere.err, /missing --token, or --provision-key and --provision-secret/);
  const shown = JSON.stringify([eventLog.events, again.events]);
  for (const secret of [...Object.values(PROVISION), "wrong"]) t.false(shown.includes(secret), secret);
});

test.serial("stopped while it waits, it ends in good order and keeps nothing", async (t) => {
  const state = join(place, "stopped");
  const child = launch(["run", "--state", state, "--log", "json", "--commission"]);
  const eventLog = processOutput(child);
  await eventLog.first("commissioning");
  t.is(await end(child), 0);
  t.false(readdirSync(join(state, "store")).some((name) => /site|token/.test(name)));
  t.true(readdirSync(state).includes("run.lock.1.free"), "it is still held");
});
