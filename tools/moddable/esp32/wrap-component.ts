// Wraps functions of ESP-IDF and the SDK with linker options, which no manifest of the SDK can set.
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** By the file that has the wrapper, `__wrap_NAME`: without it the option would end the link. */
const WRAPPED: Readonly<Record<string, string>> = {
  log: "esp_panic_handler",
  memory: "modCloneMachine",
};
const SOURCE = /^\$\(TMP_DIR\)\/(\w+)\.c\.o: .*\/hosts\/esp32\/native\/\1\.c(?: |$)/gm;

/** Adds the component if the build has a wrapper, and removes it otherwise. */
export function wrapComponent(directory: string, project: string): void {
  const folder = join(project, "components", "mote_wrap");
  const list = join(folder, "CMakeLists.txt");
  const makefile = readFileSync(join(directory, "makefile"), "utf8");
  const lines = linesFor([...makefile.matchAll(SOURCE)].map(([, file]) => file!));
  if (lines === (existsSync(list) ? readFileSync(list, "utf8") : undefined)) return;
  if (lines === undefined) rmSync(folder, { recursive: true });
  else {
    mkdirSync(folder, { recursive: true });
    writeFileSync(list, lines);
  }
  // CMake looks for components once more only if a list of its own changed.
  const main = join(project, "CMakeLists.txt");
  if (existsSync(main)) utimesSync(main, new Date(), new Date());
}

function linesFor(files: readonly string[]): string | undefined {
  const options = files
    .filter((file) => file in WRAPPED)
    .sort()
    .map((file) => `target_link_libraries(\${COMPONENT_LIB} INTERFACE "-Wl,--wrap=${WRAPPED[file]}")\n`);
  return options.length === 0 ? undefined : `idf_component_register()\n${options.join("")}`;
}
