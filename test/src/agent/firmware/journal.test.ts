import test from "ava";
import {
  NEW,
  teachRunningImage,
  UpdateJournal,
  type UpdateRecord,
} from "../../../../src/agent/firmware/journal.js";
import type { Telemetry } from "../../../../src/agent/telemetry/telemetry.js";
import { Events } from "../../../../src/events.js";
import { writeStored } from "../../../../src/store.js";
import { SecretRedactor } from "../../../../src/wire/text/redactor.js";
import { FakeSlot } from "../../../fakes/flash.js";
import { type FakeHost, fakeHost } from "../../../fakes/host.js";

const KEY = "firmware";

/** What a start of `version` reports, with this record in its store. */
function reportedBy(
  host: FakeHost,
  version: string,
  record: Partial<UpdateRecord>,
  redactor = new SecretRedactor(),
) {
  writeStored(host, KEY, { ...NEW, key: "k", title: "lamp", from: "1.0.0", ...record });
  const reported: Record<string, unknown>[] = [];
  const telemetry = { record: (values: Record<string, unknown>) => reported.push(values) };
  const journal = new UpdateJournal(
    { host, redactor },
    { title: "lamp", version },
    new Events(host),
    telemetry as unknown as Telemetry,
  );
  journal.load();
  journal.resume();
  return reported;
}

test("the words of a crash are stored and reported without secrets, if the host has no redactor too", (t) => {
  const { redactor: _, ...rest } = fakeHost({ slot: new FakeSlot(0, 4096) });
  const crash = "POST /api/v1/T-3141-SECRET/telemetry failed";
  const host = { ...rest, lastRun: { reset: "panic", crash } } as FakeHost;
  const redactor = new SecretRedactor();
  redactor.pin("T-3141-SECRET");
  const reported = reportedBy(host, "1.0.0", { state: "updating", version: "2.0.0" }, redactor);
  t.is(reported[0]?.fw_error, "not confirmed (POST /api/v1/***/telemetry failed)");
  const stored = Buffer.from(host.store.get(KEY)!).toString();
  t.true(stored.includes("***") && !stored.includes("SECRET"), stored);
});

test("an image that was flashed over an activated update of its version reports its own checksum", (t) => {
  const slot = Object.assign(new FakeSlot(0, 4096), { image: () => "flashed" });
  const reported = reportedBy(fakeHost({ slot }), "2.0.0", {
    ...{ state: "updating", version: "2.0.0", verified: "SHA256 update" },
    ...{ image: "flashed", runs: "SHA256 flashed" },
  });
  t.deepEqual(reported, [
    { current_fw_title: "lamp", current_fw_version: "2.0.0", current_fw_checksum: "flashed" },
  ]);
});

test("a flashed image that is on trial again, and fails, is not UPDATED by the image before it", (t) => {
  const slot = Object.assign(new FakeSlot(0, 4096), { image: (): string => "first" });
  const host = fakeHost({ slot });
  const record: Partial<UpdateRecord> = {
    ...{ state: "updating", from: "2.0.0", version: "2.0.0", verified: "SHA256 first" },
    ...{ image: "second", runs: "SHA256 second" },
  };
  writeStored(host, KEY, { ...NEW, ...record });
  slot.state = () => "pending";
  teachRunningImage(host, "SHA256 first");
  slot.state = () => "confirmed";
  slot.image = () => "second";
  const { image, runs } = JSON.parse(Buffer.from(host.store.get(KEY)!).toString().slice(9));
  const [reported] = reportedBy(host, "2.0.0", { ...record, image, runs });
  t.deepEqual([reported?.fw_state, reported?.current_fw_checksum], ["FAILED", "second"]);
});
