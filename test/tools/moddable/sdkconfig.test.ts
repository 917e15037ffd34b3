import test from "ava";
import {
  checkOptions,
  flashBytes,
  mergeOptions,
  protectionOptions,
  readOptions,
} from "../../../tools/moddable/esp32/sdkconfig.js";
import { read } from "../../architecture/tree.js";

const OURS = read("hosts/esp32/flash/sdkconfig/sdkconfig.defaults");

test("the project's options are what an update needs", (t) => {
  t.deepEqual(checkOptions(OURS), []);
});

test("an option that somebody else's took away is reported by name", (t) => {
  const before = "CONFIG_BOOTLOADER_SKIP_VALIDATE_ALWAYS=y\n# CONFIG_ESP_TASK_WDT_EN is not set\n";
  t.deepEqual(checkOptions(before + OURS), []);
  t.deepEqual(checkOptions(OURS + before), [
    "CONFIG_BOOTLOADER_SKIP_VALIDATE_ALWAYS is y, not n",
    "CONFIG_ESP_TASK_WDT_EN is n, not y",
  ]);
  t.is(checkOptions("").length, 5);
});

test("an option with nothing is off, as the SDK writes it", (t) => {
  t.deepEqual(checkOptions(OURS.replace("SKIP_VALIDATE_ALWAYS=n", "SKIP_VALIDATE_ALWAYS=")), []);
});

test("a target keeps its own options, but not the size of its flash", (t) => {
  const merged = mergeOptions(
    "CONFIG_ESP_CONSOLE_UART=y\r\nCONFIG_ESPTOOLPY_FLASHSIZE_16MB=y\r\n",
    `${OURS}CONFIG_ESPTOOLPY_FLASHSIZE_4MB=y\n`,
  );
  t.is(readOptions(merged).get("CONFIG_ESP_CONSOLE_UART"), "y");
  t.is(flashBytes(merged), 4 * 1024 * 1024);
  t.deepEqual(checkOptions(merged), []);
});

test("protection is off unless asked for, and each part has ESP-IDF's own options", (t) => {
  t.is(protectionOptions({}, "esp32c3"), "");
  const options = readOptions(protectionOptions({ encrypt: "release", secureBoot: "/k.pem" }, "esp32"));
  t.is(options.get("CONFIG_SECURE_FLASH_ENC_ENABLED"), "y");
  t.is(options.get("CONFIG_SECURE_FLASH_ENCRYPTION_MODE_RELEASE"), "y");
  t.is(options.get("CONFIG_NVS_ENCRYPTION"), "y");
  t.is(options.get("CONFIG_SECURE_BOOT_SIGNING_KEY"), '"/k.pem"');
  t.is(options.get("CONFIG_ESP32_REV_MIN_3"), "y");
  t.is(options.get("CONFIG_PARTITION_TABLE_OFFSET"), "0xf000");
});
