// The recorded bytes of each format that outlives a run. A later version must read them: a change
// needs a new format number.
import test from "ava";
import { HealthRecord } from "../../extras/diagnostics/record.js";
import { Alarms } from "../../extras/report-on-change/alarms.js";
import { ClientAttributes } from "../../src/agent/attributes/client-attributes.js";
import { SharedAttributes } from "../../src/agent/attributes/shared-attributes.js";
import { runningImage, teachRunningImage, UpdateJournal } from "../../src/agent/firmware/journal.js";
import { readMemory, writeMemory } from "../../src/agent/lifecycle/memory.js";
import { Recovery } from "../../src/agent/lifecycle/recovery.js";
import { RefusalBackoff } from "../../src/agent/provisioning/refusal-backoff.js";
import { TokenStore } from "../../src/agent/provisioning/token-store.js";
import { emptyState } from "../../src/agent/queue/record.js";
import { Witness } from "../../src/agent/queue/witness.js";
import { RpcJournal } from "../../src/agent/rpc/journal.js";
import { Time } from "../../src/agent/time/time.js";
import { Events } from "../../src/events.js";
import type { PlatformSession } from "../../src/platform/session.js";
import { FakeFlash, FakeSlot } from "../fakes/flash.js";
import { type FakeHost, FakeStore, fakeHost } from "../fakes/host.js";
import { secretOf } from "../fakes/secret.js";
import { rig, waitingStamps, waitingTexts } from "./agent/queue/rig.js";

const BINDING = { scheme: "http", address: "platform.test", authorities: undefined } as const;
const tokens = (host: FakeHost) => new TokenStore(host, host.redactor, BINDING);
const journal = (host: FakeHost) => new RpcJournal(host, new Time(host), 1024);
const sessionOf = (host: FakeHost) => {
  const counters = { countLeftOut() {} };
  return { host, redactor: host.redactor, counters } as unknown as PlatformSession;
};
const sharedOf = (host: FakeHost) => new SharedAttributes(host, new Events(host));
const LIMITS = { temperature: { above: 30 } };

interface Format {
  readonly key: string;
  readonly text: string;
  write(host: FakeHost): unknown;
  /** What a later start finds, and should. */
  read(host: FakeHost): unknown;
  readonly found: unknown;
}

const STATE = {
  ...{ ...emptyState(), sequence: 3, stored: 40, finished: 30, epoch: 4, start: 1_767_225_600_000 },
  ...{ full: 1, refused: 2, unreadable: 5 },
};

const FORMATS: readonly Format[] = [
  {
    key: "token",
    text: '1be48c086{"url":"http://platform.test","token":"T-3141","name":"lamp-1"}',
    write: (host) => tokens(host).save(secretOf("T-3141"), "lamp-1"),
    read: (host) => [tokens(host).get("token")?.reveal(), tokens(host).name],
    found: ["T-3141", "lamp-1"],
  },
  {
    key: "queue",
    text: "15af9838c[7,3,40,52,1,30,1,2,5,4,1767225600000,1767225601999]",
    write: (host) => Object.assign(new Witness(host), { id: 7 }).note(STATE, 52, true),
    read: (host) => {
      const state = emptyState();
      new Witness(host).addTo(state, 0, false, false);
      const { stored, finished, full, refused, unreadable, epoch } = state;
      return [stored, finished, full, refused, unreadable, epoch];
    },
    found: [52, 30, 1, 2, 5, 4],
  },
  {
    key: "rpc",
    text: '1d44d8f2a[[3,123456,0,1767225600000,"{\\"on\\":true}"]]',
    write: (host) => {
      const rpcs = journal(host);
      const entry = rpcs.enter(3, 123_456, 1);
      rpcs.admit(entry, true);
      rpcs.setAnswer(entry, '{"on":true}');
      rpcs.noteFailure(entry, false);
    },
    read: (host) => journal(host).find(3, 123_456, 1),
    found: {
      ...{ id: 3, hash: 123_456, ticks: 0, at: 1_767_225_600_000, isEarlier: true, after: 0 },
      ...{ hasBegun: true, isStored: true, answer: '{"on":true}', failures: 1, refusals: 0 },
    },
  },
  {
    key: "refused",
    text: '10d630d98{"of":3080130338,"count":1,"at":1767225600000,"ms":952}',
    write: (host) => {
      const gate = new RefusalBackoff(host, "http://platform.test");
      gate.identify("lamp-1", [secretOf("T-3141")]);
      gate.noteRefusal("unknown");
    },
    read: (host) => {
      const gate = new RefusalBackoff(host, "http://platform.test");
      return [gate.identify("lamp-1", [secretOf("T-3141")]), gate.count];
    },
    found: [true, 1],
  },
  {
    key: "shared",
    text: '143a35679{"interval":30,"limits":{"low":1}}',
    write: (host) => {
      const shared = sharedOf(host);
      for (const key of ["interval", "limits"]) shared.subscribe(key, () => {});
      shared.applyRead(["interval", "limits"], { interval: 30, limits: { low: 1 } });
    },
    read: (host) => {
      const seen: unknown[] = [];
      sharedOf(host).subscribe("limits", (value) => seen.push(value));
      return seen;
    },
    found: [{ low: 1 }],
  },
  {
    key: "client",
    text: '1e77156ad[["serial","\\"serial\\":\\"A-113\\"",1]]',
    write: (host) => new ClientAttributes(sessionOf(host)).publish({ serial: "A-113" }),
    read: (host) => new ClientAttributes(sessionOf(host)).batch(9)?.text,
    found: '{"serial":"A-113"}',
  },
  {
    key: "firmware",
    text: '1a0a4ee15{"state":"idle","key":"","title":"","version":"","from":"","offset":0,"head":"","size":0,"checksum":"","etag":"","failures":0,"spared":0,"error":"","verified":"","at":0,"image":"A","runs":"SHA256 0badc0de"}',
    write: (host) => teachRunningImage(host, "SHA256 0badc0de"),
    read: (host) => {
      const update = new UpdateJournal(
        sessionOf(host),
        { title: "lamp", version: "1.0.0" },
        undefined as never,
        undefined as never,
      );
      update.load();
      return runningImage(host, update.record);
    },
    found: "SHA256 0badc0de",
  },
  {
    key: "recovery",
    text: '1d7f8212b{"image":"1.0.0","ages":[],"leftMs":0,"cause":"","restartExpected":false,"reported":false,"cycles":1}',
    write: (host) => {
      Object.assign(host, { lastRun: { powered: true, crash: false } });
      new Recovery(host, "1.0.0").cancelTimers();
    },
    read: (host) => {
      Object.assign(host, { lastRun: { powered: true, crash: false } });
      new Recovery(host, "1.0.0").cancelTimers();
      new Recovery(host, "1.0.0").cancelTimers();
      return Recovery.takeSetupRequest(host);
    },
    found: true,
  },
  {
    key: "health",
    text: '1945b70ec{"at":0,"resets":[["power on",1]],"errors":[["lost",1,1767225600]]}',
    write: (host) => {
      const record = new HealthRecord(host);
      record.note("lost", 1_767_225_600);
      record.started("power on");
      record.save();
    },
    read: (host) => new HealthRecord(host).errors,
    found: [{ code: "lost", times: 1, at: 1_767_225_600 }],
  },
  {
    key: "alarms",
    text: '19c21b242[["temperature",1,1767225600000,1767225600000]]',
    write: (host) => new Alarms(host, LIMITS).check({ temperature: 31 }),
    read: (host) => new Alarms(host, LIMITS).isRaised("temperature"),
    found: true,
  },
];

/** Two points, one of them delivered. */
const SECTOR =
  "d0a257b758002401f4c9ebfd0000000001000000000000000000000000000000000000000100000000000000000000000000000000000000010000000000000000a8da769b01000000000000000000000000000000000000d0a257b758002401f4c9ebfd0000000001000000000000000000000000000000000000000100000000000000000000000000000000000000010000000000000000a8da769b0100000000000000000000000000000000000042a728891700010100000000000001007b226e223a317d000ed39c761700010201000000000001007b226e223a327d00f83ad30c17000203f4a9da769b0100007b226e223a337d00e8fb25c1100010040100000000000000";

const hostOf = () => fakeHost({ slot: Object.assign(new FakeSlot(4096, 4096), { image: () => "A" }) });

for (const { key, text, write, read, found } of FORMATS)
  test(`the stored value "${key}" is written and read as recorded`, (t) => {
    const host = hostOf();
    write(host);
    const bytes = host.store.get(key);
    t.is(new TextDecoder().decode(bytes), text);
    const next = hostOf();
    next.store.set(key, new TextEncoder().encode(text));
    t.deepEqual(read(next), found);
    t.deepEqual(next.lines, []);
  });

test("the memory of a sleep is written and read as recorded", (t) => {
  const host = hostOf();
  const memory = readMemory(host, undefined);
  memory.wakes = 7;
  const text =
    '1fbe29048{"wakes":7,"wakesLeft":0,"backoffWakes":0.5,"urgent":0,"sleepMs":0,"radioMs":0,"points":0,"loggedMs":0,"loggedKeySet":0,"time":{"endedAt":0,"ticks":0,"exactFrom":-1,"syncedAt":0,"sinceSyncMs":0,"rate":1},"update":{"busy":0,"assignmentHash":-1,"state":"","retryMs":-1},"telemetry":{"limit":0,"losses":0,"probed":0},"attributes":{"limit":0,"losses":0,"probed":0}}';
  t.is(writeMemory(host, memory), text);
  t.is(readMemory(host, text).wakes, 7);
});

test("a sector of the durable queue is written and read as recorded", (t) => {
  const blocks = new FakeFlash(1024, 512);
  const { outbox } = rig(blocks, {}, new FakeStore());
  const encode = (text: string) => new TextEncoder().encode(text);
  outbox.append(encode('{"n":1}'), undefined);
  outbox.append(encode('{"n":2}'), undefined);
  outbox.append(encode('{"n":3}'), 1_767_225_600_500 as never);
  outbox.confirm(1);
  const end = blocks.bytes.subarray(0, 512).findLastIndex((byte) => byte !== 0xff) + 1;
  t.is(Buffer.from(blocks.bytes.subarray(0, end)).toString("hex"), SECTOR);
  const recorded = new FakeFlash(1024, 512);
  recorded.bytes.set(Buffer.from(SECTOR, "hex"));
  const next = rig(recorded, {}, new FakeStore());
  t.deepEqual(waitingTexts(next.outbox), ['{"n":2}', '{"n":3}']);
  t.deepEqual(waitingStamps(next), [1_767_225_600_001, 1_767_225_600_500]);
});
