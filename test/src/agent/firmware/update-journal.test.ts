import test from "ava";
import type { Reporter } from "../../../../src/agent/firmware/reporter.js";
import { UpdateJournal } from "../../../../src/agent/firmware/update-journal.js";
import { KEY, NEW, type UpdateRecord } from "../../../../src/agent/firmware/update-record.js";
import { writeStored } from "../../../../src/store.js";
import { SecretRedactor } from "../../../../src/wire/text/redactor.js";
import { FakeSlot } from "../../../fakes/flash.js";
import { fakeHost } from "../../../fakes/host.js";

test("the words of a crash are stored and reported without secrets, if the host has no redactor too", (t) => {
  const { redactor: _, ...rest } = fakeHost({ slot: new FakeSlot(0, 4096) });
  const crash = "POST /api/v1/T-3141-SECRET/telemetry failed";
  const host = { ...rest, lastRun: { reset: "panic", crash } };
  const redactor = new SecretRedactor();
  redactor.pin("T-3141-SECRET");
  writeStored(host, KEY, { ...NEW, state: "updating", key: "k", version: "2.0.0", from: "1.0.0" });
  const reported: string[] = [];
  const reporter = { failed() {}, report: ({ error }: { error: string }) => reported.push(error) };
  const journal = new UpdateJournal(
    { host, redactor },
    { title: "lamp", version: "1.0.0" },
    reporter as unknown as Reporter,
  );
  journal.load();
  journal.resume();
  t.deepEqual(reported, ["the new image did not start (POST /api/v1/***/telemetry failed)"]);
  const stored = Buffer.from(host.store.get(KEY)!).toString();
  t.true(stored.includes("***") && !stored.includes("SECRET"), stored);
});

test("an image that was flashed over an activated update of its version reports its own checksum", (t) => {
  const slot = Object.assign(new FakeSlot(0, 4096), { image: () => "flashed" });
  const host = fakeHost({ slot });
  const update = { ...NEW, key: "k", title: "lamp", version: "2.0.0", from: "1.0.0" } as const;
  writeStored(host, KEY, {
    ...{ ...update, state: "updating", verified: "SHA256 update" },
    ...{ image: "flashed", runs: "SHA256 flashed" },
  });
  const reported: string[] = [];
  const reporter = {
    failed() {},
    report: (record: UpdateRecord) => reported.push(`${record.state} ${record.runs}`),
    running: ({ runs }: UpdateRecord) => reported.push(`running ${runs}`),
  };
  const journal = new UpdateJournal(
    { host, redactor: new SecretRedactor() },
    { title: "lamp", version: "2.0.0" },
    reporter as unknown as Reporter,
  );
  journal.load();
  journal.resume();
  t.deepEqual(reported, ["running SHA256 flashed"]);
});
