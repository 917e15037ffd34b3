// An application, a crash and a platform that quote a secret: what of it leaves the device, and by which way.
import type { Agent } from "../../../src/index.js";
import { Recovery } from "../../../src/index.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { NAME, type Rig, startRig, test } from "./rig.js";

const utf8 = (text: string): Buffer => Buffer.from(text);

/** As an application may come to quote it. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "in an address": (secret) => `GET /api/v1/${encodeURIComponent(secret)}/rpc`,
  "in JSON": (secret) => JSON.stringify({ token: secret }),
  "in base64": (secret) => utf8(`Basic:${secret}`).toString("base64"),
  "in base64url": (secret) => utf8(secret).toString("base64url"),
  "in hexadecimal digits": (secret) => utf8(secret).toString("hex"),
  "in capitals": (secret) => secret.toUpperCase(),
};

async function online(rig: Rig): Promise<{ agent: Agent; token: string }> {
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(5000);
  return { agent, token: rig.platform.device(NAME).credentials.credentialsId };
}

async function call(rig: Rig, method: string): Promise<string> {
  const results = rig.platform.rpc(rig.platform.device(NAME), method, {});
  await rig.clock.advance(3000);
  return JSON.stringify(results);
}

test("what a handler throws or returns shows no secret", async (t) => {
  const rig = startRig(t);
  const { agent, token } = await online(rig);
  for (const [form, make] of Object.entries(FORMS))
    for (const secret of [token, KEY, SECRET]) {
      agent.rpc.handle("fails", () => {
        throw new Error(`no answer to ${make(secret)}`);
      });
      agent.rpc.handle("tells", () => ({ sent: [make(secret)], [make(secret)]: 1, ok: true }));
      const failed = await call(rig, "fails");
      const told = await call(rig, "tells");
      t.regex(failed, /HANDLER_FAILED.*\*\*\*/, form);
      t.regex(told, /\*\*\*.*ok/, form);
      for (const shown of [failed, told]) t.false(shown.includes(make(secret).slice(0, 12)), form);
    }
});

test("a method that quotes a secret is shown by no answer, line or error", async (t) => {
  const rig = startRig(t);
  const { agent, token } = await online(rig);
  for (const [form, make] of Object.entries(FORMS)) {
    const method = make(token);
    const unknown = await call(rig, method);
    t.regex(unknown, /METHOD_NOT_FOUND/, form);
    t.false(unknown.includes(method), form);
    for (const misuse of [
      () => agent.rpc.handle(method, undefined as never),
      () => agent.rpc.handle(method, () => 1, { timeoutMs: -1 }),
    ]) {
      const error = t.throws(misuse);
      t.false(error.message.includes(method), form);
      t.true(error.message.includes("***"), form);
    }
    t.false(rig.host.lines.join().includes(method), form);
  }
});

test("what is published or recorded shows no secret, and all else as it is", async (t) => {
  const rig = startRig(t);
  const { agent, token } = await online(rig);
  const device = rig.platform.device(NAME);
  for (const [form, make] of Object.entries(FORMS)) {
    agent.attributes.publish({ quoted: { was: make(token) }, plain: `${form}, nothing else` });
    for (const secret of [token, SECRET]) agent.telemetry.record({ text: make(secret), mode: "auto", n: 1 });
    await rig.clock.advance(20_000);
    t.deepEqual(rig.platform.attributes(device).quoted, { was: "***" }, form);
    t.is(rig.platform.attributes(device).plain, `${form}, nothing else`);
  }
  t.deepEqual([...new Set(rig.platform.points(device, "text").map(({ value }) => value))], ["***"]);
  t.deepEqual([...new Set(rig.platform.points(device, "mode").map(({ value }) => value))], ["auto"]);
});

test("an attribute that was published before its secret was known is cleaned when it is sent", async (t) => {
  const rig = startRig(t);
  const before = rig.agent();
  before.attributes.publish({ quoted: "a password that comes later" });
  await before.stop();
  const agent = rig.agent();
  rig.host.redactor.conceal("password that comes later");
  agent.start();
  await rig.clock.advance(20_000);
  t.is(rig.platform.attributes(rig.platform.device(NAME)).quoted, "***");
});

test("a crash that quotes a secret is reported without it", async (t) => {
  for (const [form, make] of Object.entries(FORMS)) {
    const rig = startRig(t);
    const { token } = await online(rig);
    const device = rig.platform.device(NAME);
    for (let crashes = 0; crashes < 6; crashes++) {
      rig.powerOff();
      const agent = rig.agent();
      const crash = `panic: Error: no connection with ${make(token)}; connect, run`;
      const recovery = new Recovery({ ...rig.host, lastRun: { reset: "panic", crash } }, "1");
      recovery.attend(agent);
      agent.start();
      await rig.clock.advance(5000);
      recovery.close();
    }
    const shown = String(rig.platform.attributes(device).moteRecovery);
    t.regex(shown, /^panic: Error: no connection with .*\*\*\*.* connect, run$/, form);
    t.false(shown.includes(make(token).slice(-12)), form);
    t.false(rig.host.lines.join().includes(make(token)));
  }
});

test("a cut crash text, of which half a secret is left, is not shown either", async (t) => {
  const rig = startRig(t);
  const { token } = await online(rig);
  rig.powerOff();
  const agent = rig.agent();
  const crash = `${"x".repeat(200 - token.length)} ${token}`.slice(0, 192);
  const recovery = new Recovery({ ...rig.host, lastRun: { reset: "panic", crash, crashes: 5 } }, "1");
  recovery.attend(agent);
  agent.start();
  await rig.clock.advance(5000);
  recovery.close();
  t.regex(recovery.cause, /^x+ \*\*\*$/);
  t.regex(String(rig.platform.attributes(rig.platform.device(NAME)).moteRecovery), /^x+ \*\*\*$/);
});

test("no error that the application gets quotes a secret", async (t) => {
  const rig = startRig(t);
  const { agent, token } = await online(rig);
  const error = t.throws(() => agent.attributes.publish({ [token]: Number.NaN }));
  t.false(error.message.includes(token));
  t.is((error as { code?: string }).code, "BAD_VALUE");
});
