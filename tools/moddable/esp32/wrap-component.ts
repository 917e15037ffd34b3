// Wraps functions of ESP-IDF and the SDK with linker options, which no manifest of the SDK can set.
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * By the file that has the wrappers, `__wrap_NAME`: without them the options would end the link.
 */
const WRAPPED: Readonly<Record<string, readonly string[]>> = {
  log: ["esp_panic_handler"],
  memory: ["modCloneMachine", "fxAbort"],
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

function linesFor(files: string[]): string | undefined {
  const options = files
    .sort()
    .flatMap((file) => WRAPPED[file] ?? [])
    .map((name) => `target_link_libraries(\${COMPONENT_LIB} INTERFACE "-Wl,--wrap=${name}")\n`);
  return options.length === 0 ? undefined : `idf_component_register()\n${options.join("")}`;
}
