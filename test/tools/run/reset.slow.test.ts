// `mote run` after a reset: nothing that was forgotten is used again, and nothing that was kept for one platform goes to another.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { startPlatform } from "../../../tools/platform/server.js";
import { killAll, launch, mote, processOutput } from "../cli/commands.js";

const place = mkdtempSync(join(tmpdir(), "mote-reset-"));
const TOKEN = "token-of-the-owner";
test.after.always(() => {
  killAll();
  rmSync(place, { recursive: true });
});

/** A platform with one device, and a state directory in which it was commissioned with its access token. */
async function commissioned(t: ExecutionContext, name: string) {
  const platform = await startPlatform({ port: 0 });
  t.teardown(() => platform.close());
  const { core } = platform;
  const device = core.createDevice({ name: "lamp", profileId: core.profiles.default.id }, TOKEN);
  const child = launch(["run", "--state", join(place, name), "--log", "json", "--commission"]);
  const eventLog = processOutput(child);
  const pages = () => eventLog.events.filter(({ event }) => event === "commissioning");
  await eventLog.until(() => pages().length > 0);
  const url = String(pages()[0]?.url);
  const [, proof = ""] = /name="proof" value="(\w+)"/.exec(await (await fetch(url)).text()) ?? [];
  const body = new URLSearchParams({ proof, url: platform.url, token: TOKEN });
  await fetch(url, { method: "POST", body });
  await eventLog.until(() => eventLog.events.some(({ event }) => event === "online"));
  return { device, child, eventLog, pages, state: join(place, name) };
}

test.serial(
  "after the RPC mote.reset it asks on its page again, and the token is used no more",
  async (t) => {
    const { device, child, eventLog, pages, state } = await commissioned(t, "asked");
    const expiresAt = Date.now() + 30_000;
    device.rpc.send({ method: "mote.reset", params: '{"confirm":true}', oneWay: false, expiresAt });
    await eventLog.until(() => pages().length === 2);
    t.false(readdirSync(join(state, "store")).includes("token.bin"));
    t.is(eventLog.events.filter(({ event }) => event === "started").length, 1);
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGTERM");
    t.is(await ended, 0);
  },
);

test.serial("a reset that a kill cut short is completed, and its token is not read", async (t) => {
  const { child, state } = await commissioned(t, "cut");
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  await ended;
  writeFileSync(join(state, "store", "reset.bin"), "\u0001true");
  const plain = await mote(["run", "--state", state]);
  t.is(plain.code, 2);
  t.regex(plain.err, /--token, or --provision-key .* needed/);
  const again = launch(["run", "--state", state, "--log", "json", "--commission"]);
  const eventLog = processOutput(again);
  await eventLog.until(() => eventLog.events.some(({ event }) => event === "commissioning"));
  t.deepEqual(
    readdirSync(join(state, "store")).filter((name) => /reset|token/.test(name)),
    [],
  );
  again.kill("SIGTERM");
});

test.serial(
  "what was kept for one platform is not sent to another that the command line names",
  async (t) => {
    const { child, state } = await commissioned(t, "elsewhere");
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGTERM");
    await ended;
    const { code, err } = await mote(["run", "--state", state, "--url", "http://127.0.0.1:1"]);
    t.is(code, 2);
    t.regex(err, /--token, or --provision-key .* needed/);
  },
);
