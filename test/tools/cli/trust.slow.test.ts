// docs/guides/changes.md, "The server's certificate", step by step: a device of `mote run` over real TLS, the operator's commands in processes of their own.

import type { ChildProcess } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Server } from "node:tls";
import test from "ava";
import { signImage } from "../../../tools/cli/commands/sign.js";
import type { Operator } from "../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { Authorities, type Issued, identityOf } from "../../extras/trust/x509/authority.js";
import { changes, type Shown } from "../../extras/trust/x509/changes.js";
import { tlsFront } from "../../hosts/shared/tls-front.js";
import { operatorOf } from "../operator-of.js";
import type { EventLog } from "../run/session.js";
import { scratch } from "../scratch.js";
import { asTenant, end, killAll, launch, mote, processOutput, type Result } from "./commands.js";

const NAME = "greenhouse-7";
const TOKEN = "token-of-a-test";
const made = new Authorities();
const { first, second, shown } = changes(made);
const home = scratch();
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
let platform: Platform;
let operator: Operator;
let id: string;
let port = 0;

test.before(async () => {
  platform = await startPlatform({ port: 0 });
  operator = await operatorOf(platform);
  id = (await operator.devices.create({ name: NAME }, TOKEN)).id.id;
  const { publicKey } = signImage(privateKey, new Uint8Array());
  write("key.pem", privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  write(
    "app.mjs",
    `export const firmware = { title: "lamp", version: "1.0.0", publicKey: "${publicKey}" };
export default function () { setInterval(() => {}, 1000); }`,
  );
});
test.after.always(async () => {
  killAll();
  await platform.close();
  made.remove();
});

function write(name: string, text: string): string {
  writeFileSync(join(home, name), text);
  return join(home, name);
}

/** The server begins to show this chain, at the same port, and ends all connections of before. */
async function shows({ chain }: Shown, before?: Server): Promise<Server> {
  before?.close();
  const server = await tlsFront(identityOf(chain), Number(new URL(platform.url).port), port);
  port = (server.address() as AddressInfo).port;
  return server;
}

/** `mote run` with one authority of its own, until it is stopped. */
function device(ca: Issued): { child: ChildProcess; eventLog: EventLog } {
  const child = launch(
    [
      ...["run", "--url", `https://localhost:${port}`, "--state", join(home, "state"), "--log", "json"],
      ...["--app", join(home, "app.mjs"), "--ca", ca.certPath, "--interval", "1s"],
    ],
    { MOTE_TOKEN: TOKEN },
  );
  return { child, eventLog: processOutput(child) };
}

const trust = (...args: string[]): Promise<Result> => mote(["trust", ...args], asTenant(platform.url));

/** Signed with the key of the firmware, for its title. */
const SIGNED = ["--key", join(home, "key.pem"), "--product", "lamp"];

const push = (...args: string[]): Promise<Result> =>
  trust("push", ...SIGNED, "--device", NAME, "--timeout", "60s", ...args);

/** Whether a device that starts again, and was given `first`, comes online while the server shows this, in `withinMs` from its start on. */
async function comesOnline(chain: Shown, withinMs: number): Promise<boolean> {
  const server = await shows(chain);
  const { child, eventLog } = device(first);
  await eventLog.first("started");
  const isOnline = await eventLog.first("online", withinMs).then(
    () => true,
    () => false,
  );
  await end(child, "SIGINT");
  server.close();
  return isOnline;
}

test.serial("the steps of the field guide: push, change the server, drop", async (t) => {
  t.timeout(400_000);
  let server = await shows(shown.ofFirst);
  const { child, eventLog } = device(first);
  await eventLog.first("online");

  const wrong = await push("--ca", second.certPath, "--key", write("other.pem", otherKey()));
  t.is(wrong.code, 4, wrong.err);
  t.regex(wrong.err, /greenhouse-7 {2}refused: it is not signed with firmware\.publicKey\n/);
  const taken = await push("--ca", second.certPath);
  t.is(taken.code, 0, taken.err);
  t.regex(
    taken.err,
    /^Announced to greenhouse-7: [0-9a-f]{16}\.\n[\s\S]*greenhouse-7 {2}accepted\nAccepted: 1 of 1\.\n$/,
  );
  const table = await trust("show", "--device", NAME);
  t.regex(table.out, /^DEVICE +ANNOUNCED +TRUSTS +NOTE/);
  t.regex(table.out, /[0-9a-f]{16} \(20\d\d-\d\d-\d\d\), [0-9a-f]{16} \(20/);

  const early = await push("--drop", "old", "--timeout", "3s", "--json");
  t.is(early.code, 4, early.err);
  t.like(JSON.parse(early.out), { 0: { device: NAME, end: "open" } });
  t.regex(early.out, /accepted, not dropped yet: [0-9a-f]{16}/);

  // The server changes. What it has open ends.
  await end(child, "SIGINT");
  server.close();
  server = await shows(shown.ofSecond);
  const { child: again, eventLog: later } = device(first);
  await later.first("online");
  const dropped = await push("--drop", "old");
  t.is(dropped.code, 0, dropped.err);
  const [state] = JSON.parse((await trust("show", "--device", NAME, "--json")).out);
  t.is(state.trusts.length, 1);
  t.deepEqual([state.waiting, state.refused, state.warning], [[], null, ""]);
  const shared = await operator.attributes.get(id, "SHARED_SCOPE");
  t.true(Object.keys(shared).every((name) => /^moteTrust(?:-[0-9a-f]{16}-\d)?$/.test(name)));
  await end(again, "SIGINT");
  server.close();

  t.true(await comesOnline(shown.ofSecond, 60_000), "the new one");
  t.false(await comesOnline(shown.ofFirst, 8_000), "what was dropped, though the command line names it");
  t.false(await comesOnline(shown.ofStranger, 8_000), "a stranger");
});

const otherKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
