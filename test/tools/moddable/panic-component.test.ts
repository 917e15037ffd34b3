import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { panicComponent } from "../../../tools/moddable/esp32/panic-component.js";

const WITH = "$(TMP_DIR)/log.c.o: /home/me/mote/hosts/esp32/native/log.c $(HEADERS) | $(TMP_DIR)/mc.xs.c\n";
const OTHERS = "$(TMP_DIR)/log.c.o: /home/me/greenhouse/log.c $(HEADERS)\n";

test("a project that keeps lines has ESP-IDF's panic handler wrapped, and one that does no longer has not", (t) => {
  const place = mkdtempSync(join(tmpdir(), "mote-panic-"));
  t.teardown(() => rmSync(place, { recursive: true }));
  const project = join(place, "xsProj-esp32c3");
  mkdirSync(project);
  const main = join(project, "CMakeLists.txt");
  writeFileSync(main, "");
  const list = join(project, "components", "mote_panic", "CMakeLists.txt");
  /** Whether CMake would look again. */
  const build = (makefile: string): boolean => {
    writeFileSync(join(place, "makefile"), makefile);
    utimesSync(main, 0, 0);
    panicComponent(place, project);
    return statSync(main).mtimeMs > 0;
  };
  t.false(build(OTHERS));
  t.false(existsSync(list));
  t.true(build(WITH));
  t.regex(readFileSync(list, "utf8"), /INTERFACE "-Wl,--wrap=esp_panic_handler"/);
  t.false(build(WITH));
  t.true(build(OTHERS));
  t.false(existsSync(list));
});
