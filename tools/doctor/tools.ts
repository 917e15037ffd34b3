// What a build for a board needs on this machine.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { onPath } from "../moddable/program.js";
import { findSdk, SDK_VERSION, SdkError, sdkVersion } from "../moddable/sdk.js";
import { bad, type Finding, good, skipped, warning } from "./finding.js";

export function checkTools(env: NodeJS.ProcessEnv = process.env): Finding[] {
  if (!env.MODDABLE)
    return [
      skipped("Moddable SDK", "$MODDABLE is not set: boards and the simulator need it, the rest does not"),
    ];
  const findings = [sdk(env)];
  if (findings[0]?.level === "bad") return findings;
  findings.push(
    onPath("mcconfig", env)
      ? good("mcconfig", "on the path")
      : warning(
          "mcconfig",
          "not on the path",
          "Add $MODDABLE/build/bin/lin/release to PATH, to build without npm.",
        ),
  );
  const idf = env.IDF_PATH;
  if (!idf)
    findings.push(
      skipped("ESP-IDF", "$IDF_PATH is not set: flashing a board needs it, --check and the simulator do not"),
    );
  else if (!existsSync(join(idf, "tools", "idf.py")))
    findings.push(
      bad(
        "ESP-IDF",
        `$IDF_PATH is ${idf}, and no ESP-IDF is there`,
        "Install it as the SDK's ESP32 guide says.",
      ),
    );
  else
    findings.push(
      onPath("idf.py", env)
        ? good("ESP-IDF", "found, its tools on the path")
        : warning("ESP-IDF", "found, its tools are not on the path", ". $IDF_PATH/export.sh"),
    );
  return findings;
}

function sdk(env: NodeJS.ProcessEnv): Finding {
  try {
    const { path } = findSdk(env);
    const version = sdkVersion(path);
    if (version === undefined || version === SDK_VERSION)
      return good("Moddable SDK", `${version ?? "built"} at ${path}`);
    return warning("Moddable SDK", `${version} at ${path}`, `Mote was written for ${SDK_VERSION}.`);
  } catch (error) {
    if (!(error instanceof SdkError)) throw error;
    const [first = "", ...rest] = error.message.split("\n");
    return bad("Moddable SDK", first, rest.join("\n"));
  }
}
