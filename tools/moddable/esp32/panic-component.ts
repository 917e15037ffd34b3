// Who notes the place of a panic is called before ESP-IDF's own handler, which takes an option of
// the linker: no manifest of the SDK has one.
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Has __wrap_esp_panic_handler: without it the option would end the link. */
const SOURCE = /^\$\(TMP_DIR\)\/log\.c\.o: .*\/hosts\/esp32\/native\/log\.c(?: |$)/m;
const LINES = `idf_component_register()
target_link_libraries(\${COMPONENT_LIB} INTERFACE "-Wl,--wrap=esp_panic_handler")
`;

/**
 * Adds a component to a configured project of ESP-IDF if it keeps lines, and takes it out of one
 * that does no longer. `directory`: with the makefile.
 */
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
