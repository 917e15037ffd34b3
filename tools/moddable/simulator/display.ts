// A screen for the simulator.
import { type ChildProcess, spawn } from "node:child_process";
import { SdkError } from "../sdk.js";

export interface Display {
  readonly name: string;
  close(): void;
}

const START_MS = 10_000;

/** The computer's display; if `headless` or without one, Xvfb. Throws SdkError without either. */
export async function openDisplay(headless: boolean, env: NodeJS.ProcessEnv = process.env): Promise<Display> {
  if (!headless && env.DISPLAY) return { name: env.DISPLAY, close: () => {} };
  const server = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const number = await numberOf(server);
  if (number !== undefined) return { name: `:${number}`, close: () => void server.kill() };
  if (env.DISPLAY) return { name: env.DISPLAY, close: () => {} };
  throw new SdkError(
    "the simulator needs a display: set DISPLAY, or install Xvfb (sudo apt-get install xvfb)",
  );
}

/** What Xvfb prints once it is ready; undefined if there is no Xvfb. */
function numberOf(server: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    const late = setTimeout(() => done(undefined), START_MS);
    const done = (number: string | undefined): void => {
      clearTimeout(late);
      if (number === undefined) server.kill();
      resolve(number);
    };
    server.on("error", () => done(undefined));
    server.on("exit", () => done(undefined));
    server.stdio[3]?.once("data", (text: Buffer) => done(text.toString().trim()));
  });
}
