// Who logs an agent or a report session, whole, logs no secret: fields that hold one have private names of the language, all others are plain.
import { inspect } from "node:util";
import test, { type ExecutionContext } from "ava";
import { Reports, Session } from "../../../src/report/index.js";
import { FakeClock } from "../../fakes/clock.js";
import { type FakeHost, fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { SECRET } from "../../fakes/platform.js";
import { serve } from "../../fakes/server.js";
import { jwt, URL, USER } from "../report/rig.js";
import { details, startRig } from "./rig.js";

/** The fields through which `text` can be read from `thing`; what the machine keeps is its own. */
function waysTo(text: string, thing: unknown, host: FakeHost): string[] {
  const found: string[] = [];
  const seen = new Set<unknown>([host, ...Object.values(host), ...host.net.peers]);
  const visit = (value: unknown, path: string): void => {
    if (typeof value === "string" && value.includes(text)) found.push(path);
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || seen.has(value)) return;
    seen.add(value);
    if (value instanceof Map || value instanceof Set) visit([...value], path);
    for (const [name, inner] of Object.entries(value)) visit(inner, `${path}.${name}`);
  };
  visit(thing, "it");
  return found;
}

function holdsNo(t: ExecutionContext, secrets: string[], thing: object, host: FakeHost): void {
  for (const secret of secrets) {
    t.deepEqual(waysTo(secret, thing, host), [], secret);
  }
}

test("an agent with a given token, its polls under way", async (t) => {
  const rig = startRig(t);
  const token = "a-token-of-its-own";
  rig.platform.create("given", token);
  const agent = rig.agent({ token, provisioning: undefined });
  agent.start();
  agent.telemetry.record({ a: 1 });
  await rig.clock.advance(3000);
  t.is(details(rig, "online").length, 1);
  holdsNo(t, [token], agent, rig.host);
  t.true(inspect(agent, { depth: 1 }).includes("telemetry"));
});

test("an agent while it provisions itself, and after", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  holdsNo(t, [SECRET], agent, rig.host);
  for (let i = 0; i < 50; i++) {
    await rig.clock.advance(20);
    holdsNo(t, [SECRET], agent, rig.host);
  }
  t.is(details(rig, "provisioned").length, 1);
  const [, token] = /"token":"(\w{20})"/.exec(Buffer.from(rig.store.get("token")!).toString()) ?? [];
  holdsNo(t, [token!], agent, rig.host);
});

test("a session with its password, its token and the one that renews it, and a client that uses it", async (t) => {
  const clock = new FakeClock();
  const host = fakeHost({ clock, network: new FakeNet(clock) });
  const [token, refreshToken] = [jwt("user"), jwt("refresh")];
  serve(host.net, (request) => request.reply(200, { token, refreshToken }));
  const session = new Session(host, { url: URL, ...USER });
  const reports = new Reports(host, { url: URL, session });
  const asked = session.token();
  await clock.advance(2);
  holdsNo(t, [USER.password], reports, host);
  await clock.advance(5000);
  t.is(await asked, token);
  holdsNo(t, [USER.password, token, refreshToken], reports, host);
});
