// `mote factory`: a board that never saw its owner boots as a commissioned device, by ESP-IDF's
// nvs_partition_gen and esptool as they are installed.
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Bench, imageOf, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";
import { keptAt } from "../chip.js";
import { eraseFlash, mote, moteAtBoard, writePage } from "../download.js";
import { PROFILE, TITLE, urlOf } from "../rig.js";

const TOKEN = "made-at-the-factory";

export const FACTORY: Case = {
  name: "factory",
  title: "a board that the factory gave its NVS provisions by its own name, or has its token, and sends",
  async run({ say }) {
    const folder = keptAt("factory");
    const [page, list, images] = [join(folder, "page"), join(folder, "devices.csv"), join(folder, "images")];
    rmSync(folder, { recursive: true, force: true });
    await using bench = await Bench.open("factory", { bare: true }, "soft");
    const { board, tenant } = bench;
    writePage(await imageOf({ bare: true }), { name: TITLE, version: "1.0.0" }, page);
    const url = urlOf({});
    const rows = [
      "name,label,url,token,key,secret,ssid",
      `lamp-1,label-of-lamp-1,${url},,${PROFILE.key},${PROFILE.secret},emulator`,
      `lamp-2,label-of-lamp-2,${url},${TOKEN},,,emulator`,
    ];
    writeFileSync(list, rows.join("\r\n"), { mode: 0o600 });
    const words = ["factory", page, "--csv", list, "--out", images];

    eraseFlash(board.flash);
    const flashed = await moteAtBoard(board.flash, [...words, "--device", "lamp-1"]);
    check(flashed.code === 0, flashed.said);
    say(`program and NVS of lamp-1: ${flashed.seconds} s`);
    board.on();
    await arrives(bench, "lamp-1");
    await board.off();

    const made = await mote(words);
    check(made.code === 0, made.said);
    for (const { out, said } of [flashed, made])
      for (const secret of [PROFILE.secret, TOKEN, "label-of"])
        check(!(out + said).includes(secret), "a secret was shown");
    const second = join(images, "lamp-2.nvs.bin");
    const [, offset = ""] = /esptool at (0x[0-9a-f]+)/.exec(made.out + made.said) ?? [];
    check((statSync(second).mode & 0o777) === 0o600, "others may read an image");
    await tenant.devices.create({ name: "lamp-2" }, TOKEN);
    put(board.flash, second, Number(offset));
    board.on();
    await arrives(bench, "lamp-2");
    const names = bench.localPlatform.platform.core.devices.list().map(({ name }) => name);
    check(names.length === 2, `there are ${names.join(", ")}`);
    return { seconds: flashed.seconds };
  },
};

function put(flash: string, image: string, offset: number): void {
  const descriptor = openSync(flash, "r+");
  writeSync(descriptor, readFileSync(image), 0, undefined, offset);
  closeSync(descriptor);
}

async function arrives(bench: Bench, name: string): Promise<void> {
  const all = { startTs: 0, endTs: Number.MAX_SAFE_INTEGER, limit: 10, ascending: true };
  await bench.until(ONLINE_MS, `a point of ${name}`, () => {
    const device = bench.localPlatform.platform.core.devices.byName(name);
    return (device?.series.range("temperature", all).length ?? 0) > 0;
  });
}
