// Estimates the size of an image from the output of the SDK's linker, without ESP-IDF.
import { type Rom, romBytes } from "../rom.js";

/**
 * Bytes of an image that are not the engine's data: the engine itself, Wi-Fi, lwIP, mbedTLS,
 * ESP-IDF and the C of the modules. Measured on an image of the sample application for the C3
 * (`mote esp32 --build`); for the other chips taken to be the same, which holds within some per
 * cent.
 */
const NATIVE = 1_055_813;

export const estimateImage = (rom: Rom): number => NATIVE + romBytes(rom);
