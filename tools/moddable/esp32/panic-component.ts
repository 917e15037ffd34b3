// Wraps ESP-IDF's panic handler with a linker option, which no manifest of the SDK can set.
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Has __wrap_esp_panic_handler: without it the option would end the link. */
const SOURCE = /^\$\(TMP_DIR\)\/log\.c\.o: .*\/hosts\/esp32\/native\/log\.c(?: |$)/m;
const LINES = `idf_component_register()
target_link_libraries(\${COMPONENT_LIB} INTERFACE "-Wl,--wrap=esp_panic_handler")
`;

/** Adds the component if the build has the log, and removes it otherwise. */
export function panicComponent(directory: string, project: string): void {
  const folder = join(project, "components", "mote_panic");
  const list = join(folder, "CMakeLists.txt");
  const isWanted = SOURCE.test(readFileSync(join(directory, "makefile"), "utf8"));
  if (isWanted === existsSync(list)) return;
  if (isWanted) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(list, LINES);
  } else rmSync(folder, { recursive: true });
  // CMake looks for components once more only if a list of its own changed.
  const main = join(project, "CMakeLists.txt");
  if (existsSync(main)) utimesSync(main, new Date(), new Date());
}
