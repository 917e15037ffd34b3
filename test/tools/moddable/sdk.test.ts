import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { findSdk, SDK_VERSION, type Sdk, sdkDoubt } from "../../../tools/moddable/sdk.js";
import { PROJECT } from "../../../tools/project.js";

const place = mkdtempSync(join(tmpdir(), "mote-sdk-"));
test.after.always(() => rmSync(place, { recursive: true, force: true }));

test("an SDK of another version is doubted, one that git knows nothing of is not", (t) => {
  const path = join(place, "moddable");
  const nobody = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"];
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", path, ...nobody, ...words], { stdio: "ignore" });
  mkdirSync(path);
  git("init", "-q");
  const doubt = () => sdkDoubt({ path } as Sdk);
  t.is(doubt(), undefined);
  git("commit", "-q", "--allow-empty", "-m", "none");
  git("tag", "-a", "-m", "none", SDK_VERSION);
  t.is(doubt(), undefined);
  git("commit", "-q", "--allow-empty", "-m", "later");
  t.regex(
    doubt() ?? "",
    new RegExp(`moddable is ${SDK_VERSION}-1-g\\w+, and this was made for ${SDK_VERSION}:`),
  );
});

test("a project is built with the manifests of the command that builds it, unless somebody says otherwise", (t) => {
  const tools = join(place, "built", "build", "bin", "lin", "release");
  mkdirSync(tools, { recursive: true });
  for (const name of ["mcconfig", "mcsim"]) writeFileSync(join(tools, name), "");
  const MODDABLE = join(place, "built");
  t.is(findSdk({ MODDABLE }).env.MOTE, PROJECT);
  t.is(findSdk({ MODDABLE, MOTE: "/elsewhere" }).env.MOTE, "/elsewhere");
});
