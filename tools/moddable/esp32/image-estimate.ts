// Estimates the size of an image from the output of the SDK's linker, without ESP-IDF.
import { type Rom, romBytes } from "../rom.js";

/**
 * Bytes of an image that are not the engine's data: the engine itself, Wi-Fi, lwIP, mbedTLS,
 * ESP-IDF and the C of the modules. Measured on images with Wi-Fi of one chip of each instruction
 * set (`mote esp32 --build`); the others of that set differ by some per cent.
 */
const NATIVE = { riscv: 1_092_776, xtensa: 1_026_670 } as const;
const XTENSA = ["esp32", "esp32s2", "esp32s3"];

/** `chip`: as ESP-IDF names it. */
export const estimateImage = (rom: Rom, chip: string): number =>
  NATIVE[XTENSA.includes(chip) ? "xtensa" : "riscv"] + romBytes(rom);
