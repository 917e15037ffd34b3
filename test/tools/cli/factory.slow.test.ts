// `mote factory` with tools that are played: what it writes, what it refuses, and that it shows no
// secret.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import test from "ava";
import { storedBytes } from "../../fakes/stored.js";
import { fakeEsptool, fakeNvsTool, NVS_TOOL, ROWS, tableOf, writeWeb } from "../moddable/board.js";
import { scratch } from "../scratch.js";
import { interrupt, killAll, mote } from "./commands.js";

test.after.always(killAll);

const SECRETS = ["hidden-label", "hidden-token", "hidden-key", "hidden-secret", "hidden-password"];
const LIST = `name,label,url,token,key,secret,ssid,password
lamp-1,hidden-label,https://p.example.com,hidden-token,,,home,hidden-password
lamp-2,,https://p.example.com,,hidden-key,hidden-secret,,
lamp-3,hidden-label,,,,,,
`;

/** A page with firmware, a list of devices and a tool that makes their images. */
function startRig(program?: string) {
  const home = scratch();
  const [bin, page, temporary] = ["bin", "page", "tmp"].map((name) => join(home, name));
  for (const folder of [bin, page, temporary]) mkdirSync(folder!);
  writeWeb(page!, [{ chip: "esp32c3" }]);
  const list = join(home, "devices.csv");
  writeFileSync(list, LIST, { mode: 0o600 });
  fakeNvsTool(bin!, program);
  const PATH = [bin, process.env.PATH].join(delimiter);
  const env = { PATH, IDF_PYTHON_ENV_PATH: "", TMPDIR: temporary! };
  const images = join(home, "images");
  return { home, bin: bin!, page: page!, temporary: temporary!, list, images, env };
}

test("writes a private image per device and flashes one together with the program", async (t) => {
  const { home, bin, page, temporary, list, images, env } = startRig();
  const port = join(home, "ttyUSB0");
  for (const [file, text] of [
    ["ttyUSB0", ""],
    ["broken.csv", `name,token\nlamp-1,hidden-token\n../lamp-2,\n`],
    ["latin.csv", Buffer.from([0x6e, 0xff])],
    ["table", tableOf(ROWS)],
  ] as const)
    writeFileSync(join(home, file), text);
  chmodSync(list, 0o644);
  const run = async (code: number, ...words: string[]) => {
    const result = await mote(["factory", page, ...words], env);
    t.is(result.code, code, result.err);
    for (const secret of SECRETS) t.false((result.out + result.err).includes(secret), secret);
    return result;
  };
  const given = ["--csv", list, "--out", images];

  t.regex((await run(0, ...given)).err, /Warning: other users can read .*devices\.csv/);
  t.deepEqual(readdirSync(images).sort(), ["lamp-1.nvs.bin", "lamp-2.nvs.bin", "lamp-3.nvs.bin"]);
  t.is(statSync(images).mode & 0o777, 0o700);
  for (const name of readdirSync(images)) {
    t.is(statSync(join(images, name)).mode & 0o777, 0o600, name);
    t.is(statSync(join(images, name)).size, 0x6000, name);
  }
  const record = storedBytes('{"url":"https://p.example.com","token":"hidden-token"}');
  const token = Buffer.from(record).toString("base64");
  t.true(readFileSync(join(images, "lamp-1.nvs.bin")).includes(`token,data,base64,${token}`));
  chmodSync(list, 0o600);
  chmodSync(join(images, "lamp-1.nvs.bin"), 0o644);
  t.regex((await run(0, ...given)).out, /^lamp-2 +provisioning /m);
  t.is(statSync(join(images, "lamp-1.nvs.bin")).mode & 0o777, 0o600);

  const calls = fakeEsptool(bin, {});
  const flash = [...given, "--device", "lamp-2", "--port", port];
  await run(0, ...flash);
  t.regex(readFileSync(calls, "utf8"), /write-flash --erase-all 0x0 .* 0x9000 \S+lamp-2\.nvs\.bin\n$/);
  const again = fakeEsptool(bin, { table: join(home, "table") });
  t.regex((await run(2, ...flash)).err, /Erase everything/);
  t.notRegex(readFileSync(again, "utf8"), /write-flash/);
  await run(0, ...flash, "--yes");

  await run(2, ...given, "--device", "lamp-9");
  for (const [name, code] of [
    ["broken", 1],
    ["latin", 2],
    ["none", 2],
  ] as const)
    await run(code, "--csv", join(home, `${name}.csv`), "--out", images);
  const tracked = join(home, "repository");
  execFileSync("git", ["init", "-q", tracked]);
  const inside = ["--csv", list, "--out", join(tracked, "images")];
  t.regex((await run(1, ...inside)).err, /is in a git repository that does not ignore it/);
  writeFileSync(join(tracked, ".gitignore"), "images/\n");
  await run(0, ...inside);
  // Nothing of it is left on the way.
  t.deepEqual(readdirSync(temporary), []);
});

test("Ctrl-C says which devices have their image, and leaves no secret on the way", async (t) => {
  // "lamp-2" in base64.
  const slow = NVS_TOOL.replace("cp ", 'grep -q bGFtcC0y "$4" && touch "$5.waits" && exec sleep 5\ncp ');
  const { page, temporary, list, images, env } = startRig(slow);
  const waits = (): boolean =>
    readdirSync(temporary).some((name) => existsSync(join(temporary, name, "nvs.bin.waits")));
  const args = ["factory", page, "--csv", list, "--out", images];
  const { code, err: said } = await interrupt(args, env, waits);
  t.is(code, 130);
  t.is(said, "Made lamp-1.\ninterrupted; what is done so far stays\n");
  t.deepEqual(readdirSync(temporary), []);
  t.deepEqual(readdirSync(images), ["lamp-1.nvs.bin"]);
});
