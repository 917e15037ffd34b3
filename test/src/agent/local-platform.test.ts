// Firmware and telemetry of the whole agent on the local platform, in both of its modes; the tests beside this one script the platform's answers.
import { createHash } from "node:crypto";
import { details, NAME, startRig, test } from "./rig.js";

const IMAGE = Buffer.alloc(100_000, "an image ");
const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): firmware assigned to the device is fetched, verified, started and confirmed`, async (t) => {
    const rig = startRig(t);
    const firmware = { title: "lamp", allowHttp: true };
    const agent = rig.agent({ connections, firmware: { ...firmware, version: "1.0.0" } });
    agent.start();
    await rig.clock.advance(40_000);
    const { core } = rig.platform;
    const device = rig.platform.device(NAME);
    const { name, profileId } = device;
    const fields = { title: "lamp", version: "2.0.0", type: "FIRMWARE", profileId } as const;
    const update = core.packages.create({ ...fields, tag: undefined, url: undefined });
    const file = { fileName: "lamp.bin", contentType: "application/octet-stream" };
    core.packages.upload(update, { ...file, bytes: IMAGE, algorithm: "SHA256", checksum: undefined });
    core.updateDevice(device, { name, profileId, firmwareId: update.id });
    const { host } = rig;
    await rig.clock.runUntil(() => host.restarts.length > 0, 30 * 60_000);
    await agent.stop();
    t.deepEqual(host.restarts, ["firmware"]);
    t.is(host.slot.activated, IMAGE.length);
    t.is(digest(host.slot.bytes.subarray(0, IMAGE.length)), digest(IMAGE));

    const next = rig.agent({ connections, firmware: { ...firmware, version: "2.0.0" } });
    rig.host.slot.current = "pending";
    next.start();
    const states = () => rig.platform.points(device, "fw_state").map(({ value }) => value);
    await rig.clock.runUntil(() => states().includes("UPDATED"), 120_000);
    t.is(rig.host.slot.state(), "confirmed");
    const own = ["DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING", "UPDATED"];
    t.deepEqual(
      states().filter((state, i, all) => own.includes(String(state)) && state !== all[i - 1]),
      own,
    );
  });
}

for (const timestamps of ["device", "platform"] as const) {
  test(`a thousand points with time stamps of the ${timestamps} are stored, each once and in order`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent({ telemetry: { timestamps, bufferBytes: 262_144 } });
    agent.start();
    await rig.clock.advance(5000);
    for (let n = 0; n < 1000; n++) {
      agent.telemetry.record(timestamps === "device" ? { n } : { [`n${n}`]: n });
      if (n % 10 === 0) await rig.clock.advance(50);
    }
    await rig.clock.advance(60_000);
    const device = rig.platform.device(NAME);
    const stored = (key: string) => rig.platform.points(device, key).map(({ value }) => value);
    const all = [...Array(1000).keys()];
    t.deepEqual(timestamps === "device" ? stored("n") : all.flatMap((n) => stored(`n${n}`)), all);
    t.deepEqual(details(rig, "drop"), []);
  });
}
