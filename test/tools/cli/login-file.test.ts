// The file of the operator's login, which holds tokens.
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import test from "ava";
import { readLogin, writeLogin } from "../../../tools/cli/operator/login-file.js";
import { scratch } from "../scratch.js";

const LOGIN = { url: "http://h", username: "u", session: { token: "t.t.t", refreshToken: "r.r.r" } };
for (const what of ["a symbolic link", "a file that others can read"] as const)
  test(`the login goes to no planted file: ${what}`, (t) => {
    const folder = scratch();
    const path = join(folder, "login.json");
    const planted = path;
    const target = what === "a symbolic link" ? join(folder, "target") : planted;
    writeFileSync(target, "planted");
    chmodSync(target, 0o666);
    const reader = openSync(target, "r");
    if (target !== planted) symlinkSync(target, planted);
    writeLogin(LOGIN, path);
    t.deepEqual(readLogin(path), { ...LOGIN, ca: undefined });
    const found = lstatSync(path);
    t.deepEqual([found.isFile(), found.mode & 0o777], [true, 0o600]);
    t.is(readFileSync(reader, "utf8"), "planted");
    closeSync(reader);
  });

test("a login that cannot be stored leaves no file with tokens behind", (t) => {
  const folder = scratch();
  const path = join(folder, "login.json");
  mkdirSync(path);
  t.throws(() => writeLogin(LOGIN, path), {
    message: /cannot write the login: .*login\.json is not a file: remove it/,
  });
  t.deepEqual(readdirSync(folder), ["login.json"]);
});
