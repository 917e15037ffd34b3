// A session with an emulated board: build, flash and start.
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { chipOf } from "./chips.js";
import { EmulatedBoard, findEmulator } from "./emulator.js";
import { type BuildOptions, buildImage } from "./esp32.js";
import { writeFlash } from "./flash-image.js";

export interface Session {
  /** A file that is kept; undefined: a new flash. */
  readonly flash: string | undefined;
  print(line: string): void;
  /** Ends the session. */
  readonly stop: AbortSignal;
}

/** Resolves with 0 when stopped, 1 if the emulator ended. Throws SdkError. */
export async function emulate(build: BuildOptions, session: Session): Promise<number> {
  const chip = chipOf(build.sdk, build.target).name;
  findEmulator(chip, build.sdk.env);
  session.print(`building for ${build.target}: the first time takes minutes`);
  const image = await buildImage(build);
  const flash = session.flash === undefined ? join(build.out, "flash.bin") : resolve(session.flash);
  if (session.flash === undefined) rmSync(flash, { force: true });
  mkdirSync(dirname(flash), { recursive: true });
  writeFlash(image, flash, build.megabytes);
  const line = (text: string): void => session.print(text);
  const over = new Promise<void>((done) => session.stop.addEventListener("abort", () => done()));
  const board = new EmulatedBoard({ chip, flash, line, env: build.sdk.env });
  const said = await Promise.race([board.off, over]);
  if (!session.stop.aborted) {
    session.print(`-- the emulator ended${said ? `: ${said}` : ""}`);
    return 1;
  }
  await board.cut();
  return 0;
}
