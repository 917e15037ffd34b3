// A session with an emulated board: build, flash, and power cuts on request.
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { chipOf } from "./chips.js";
import { EmulatedBoard, findEmulator } from "./emulator.js";
import { type BuildOptions, buildImage } from "./esp32.js";
import { writeFlash } from "./flash-image.js";

export interface Session {
  /** A file that is kept; undefined: a new flash. */
  readonly flash: string | undefined;
  /** The power is cut so many ms after each start, and comes back. */
  readonly cuts: readonly number[];
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
  const cuts = [...session.cuts];
  const over = new Promise<void>((done) => session.stop.addEventListener("abort", () => done()));
  for (;;) {
    session.print("-- power on");
    const board = new EmulatedBoard({ chip, flash, line, env: build.sdk.env });
    const ms = cuts.shift();
    const late = ms === undefined ? undefined : setTimeout(() => void board.cut(), ms);
    const said = await Promise.race([board.off, over]);
    clearTimeout(late);
    if (session.stop.aborted) {
      await board.cut();
      return 0;
    }
    if (ms === undefined) {
      session.print(`-- the emulator ended${said ? `: ${said}` : ""}`);
      return 1;
    }
    session.print(`-- power cut after ${ms} ms`);
  }
}
