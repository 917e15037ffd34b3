// The boot record of the simulated device: boot.json beside its other files.
import type { Files } from "embedded:storage/files";
import { bootText, parseBoot } from "../device/boot-slots/boot-record.js";
import type { BootStore } from "../device/boot-slots/boot-slots.js";
import { decode, encode } from "../moddable/text.js";
import { readWhole, replace } from "./files.js";

const PATH = "boot.json";

export const bootStore = (files: Files): BootStore => {
  return {
    read() {
      const bytes = readWhole(files, PATH);
      const text = bytes && decode(bytes);
      return text === undefined ? undefined : parseBoot(text);
    },
    write: (boot) => replace(files, PATH, encode(bootText(boot))),
  };
};
