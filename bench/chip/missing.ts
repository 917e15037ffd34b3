// What the bench on the emulated chip can't do without.
import { findIdf } from "../../tools/moddable/esp32/idf.js";
import { findSdk, SdkError } from "../../tools/moddable/sdk.js";
import { compilePlugin } from "./plugin.js";

/**
 * The first that is missing, for people: the SDK by `$MODDABLE`, ESP-IDF by `$IDF_PATH`, an
 * emulator that takes plugins; undefined if all is there.
 */
export function whatIsMissing(): string | undefined {
  try {
    findSdk();
    findIdf(process.env);
    compilePlugin();
    return undefined;
  } catch (error) {
    if (error instanceof SdkError) return error.message.split("\n")[0];
    throw error;
  }
}
