// A board with encrypted flash, encrypted NVS and secure boot, from its first start to an update.
import { readFileSync } from "node:fs";
import { application, Bench, imageOf, UPDATE_MS } from "../bench.js";
import { type Case, check } from "../case.js";
import { CHIP } from "../chip.js";
import { PROFILE } from "../rig.js";

/** Where the partition table and the first slot of such a board lie. */
const TABLE = 0xf000;
const SLOT = 0x20000;
const TABLE_MAGIC = 0x50aa;
const IMAGE_MAGIC = 0xe9;

export const ENCRYPTED: Case = {
  name: "encrypted",
  title: "with encrypted flash and secure boot it encrypts itself, shows no secret, and takes an update",
  async run({ say }) {
    if (typeof CHIP.fuses === "string") return { skipped: CHIP.fuses };
    await using bench = await Bench.open("encrypted", { guarded: true });
    const { board } = bench;
    const flash = (): Buffer => readFileSync(board.flash);
    check(flash().includes(PROFILE.secret), "the secret is not in the image before the first start");
    await bench.online();
    const line = await board.line(/secure boot verification succeeded/, 1000);
    say(line);
    const id = await bench.needId();
    const { credentialsId: token } = await bench.tenant.devices.credentials(id);
    const hidden = { token, "provisioning secret": PROFILE.secret, network: "emulator" };
    const shows = Object.entries(hidden).filter(([, text]) => flash().includes(text));
    check(shows.length === 0, `the flash shows its ${shows.map(([what]) => what).join(", ")}`);
    const bytes = flash();
    check(bytes.readUInt16LE(TABLE) !== TABLE_MAGIC, "the partition table is in plain text");
    check(bytes[SLOT] !== IMAGE_MAGIC, "the application is in plain text");
    await board.off();
    await bench.online();
    const after = await bench.tenant.devices.credentials(await bench.needId());
    check(after.credentialsId === token, "it provisioned again after a power loss");
    await bench.assign("2.0.0", application(await imageOf({ guarded: true, version: "2.0.0" })));
    await bench.until(UPDATE_MS, "the update", async () => {
      const state = String(await bench.latest("fw_state"));
      check(state !== "FAILED", `the update failed: ${await bench.latest("fw_error")}`);
      return state === "UPDATED";
    });
    const version = await bench.latest("current_fw_version");
    check(version === "2.0.0", `it runs ${version}`);
    return { starts: board.lines.filter((text) => text.startsWith("rst:")).length };
  },
};
