// `mote run --commission`, as its owner meets it: a page on this machine, and then a device that runs.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import type { Event } from "../../../tools/run/messages.js";
import { killAll, launch, mote, processOutput } from "../cli/commands.js";
import { platformFor } from "../platform-for.js";
import { rawRequest } from "../raw-http.js";
import { scratch } from "../scratch.js";
import type { EventLog } from "./session.js";

const place = scratch();
const PROVISION = { key: "key-of-the-product", secret: "secret-of-the-product" };
test.after.always(killAll);

/** Of the browser: the page knows by it what was entered before. */
let cookie = "";

async function visit(url: string, body?: URLSearchParams): Promise<string> {
  const method = body ? "POST" : "GET";
  const response = await fetch(url, { method, headers: { cookie }, redirect: "manual", body: body ?? null });
  cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
  return response.text();
}

const page = (url: string): Promise<string> => visit(url);

async function fillIn(url: string, values: Record<string, string>): Promise<void> {
  const [, proof = ""] = /name="proof" value="(\w+)"/.exec(await page(url)) ?? [];
  await visit(url, new URLSearchParams({ proof, ...values }));
}

/** The first event of this name. */
async function eventOf(eventLog: EventLog, name: string): Promise<Event> {
  const find = (): Event | undefined => eventLog.events.find(({ event }) => event === name);
  await eventLog.until(() => find() !== undefined);
  return find()!;
}

async function checked(url: string): Promise<string> {
  for (;;) {
    const text = await page(url);
    if (!text.includes("Asking the platform")) return text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test.serial("the page brings a device online; the next run needs no settings", async (t) => {
  const platform = await platformFor(t, { profile: PROVISION });
  const state = join(place, "greenhouse");
  const args = ["run", "--state", state, "--device-name", "greenhouse-7", "--log", "json"];
  const child = launch([...args, "--commission"]);
  const eventLog = processOutput(child);
  const { url } = (await eventOf(eventLog, "commissioning")) as unknown as { url: string };
  t.regex(url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  t.notRegex(await page(url), /Wi-Fi/);
  await fillIn(url, { url: platform.url, ...PROVISION, secret: "wrong" });
  t.regex(await checked(url), /Wrong provisioning key or secret\./);
  await fillIn(url, { secret: PROVISION.secret });
  t.regex(await checked(url), /Connected\./);
  await eventOf(eventLog, "commissioned");
  await eventOf(eventLog, "online");
  t.truthy(platform.core.devices.byName("greenhouse-7"));
  await t.throwsAsync(page(url));
  child.kill("SIGTERM");
  await eventOf(eventLog, "stopped");
  const next = launch([...args, "--commission"]);
  const again = processOutput(next);
  await eventOf(again, "online");
  const ended = new Promise((resolve) => next.once("close", resolve));
  next.kill("SIGTERM");
  await ended;
  t.false(again.events.some(({ event }) => event === "commissioning"));
  const elsewhere = await mote(["run", "--state", state, "--url", "http://127.0.0.1:1"]);
  t.is(elsewhere.code, 2, "what was kept for one platform is not sent to another");
  t.regex(elsewhere.err, /missing --token, or --provision-key and --provision-secret/);
  const shown = JSON.stringify([eventLog.events, again.events]);
  for (const secret of [...Object.values(PROVISION), "wrong"]) t.false(shown.includes(secret), secret);
});

test.serial("refuses the setup page to other host names and other pages", async (t) => {
  const eventLog = processOutput(
    launch(["run", "--state", join(place, "alone"), "--log", "json", "--commission"]),
  );
  const { url } = (await eventOf(eventLog, "commissioning")) as unknown as { url: string };
  const { port } = new URL(url);
  const asked = async (headers: Record<string, string>, method = "GET") =>
    (await rawRequest({ host: "127.0.0.1", port, path: "/", method, headers })).status;
  t.is(await asked({ host: `127.0.0.1:${port}` }), 200);
  t.is(await asked({ host: `localhost:${port}` }), 200);
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1"])
    t.is(await asked({ host }), 403, host);
  const form = {
    host: `127.0.0.1:${port}`,
    "content-type": "application/x-www-form-urlencoded",
    "content-length": "0",
  };
  t.is(await asked({ ...form, origin: "http://evil.example" }, "POST"), 403);
  t.is(await asked(form, "POST"), 403);
});

test.serial("stopped while it waits, it ends in good order and keeps nothing", async (t) => {
  const state = join(place, "stopped");
  const child = launch(["run", "--state", state, "--log", "json", "--commission"]);
  const eventLog = processOutput(child);
  await eventOf(eventLog, "commissioning");
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  t.is(await ended, 0);
  t.false(readdirSync(join(state, "store")).some((name) => /site|token/.test(name)));
  t.true(readdirSync(state).includes("run.lease.1"), "it is still held");
});
