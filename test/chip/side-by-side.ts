// Several cases at once, each in a process of its own with ports and a flash of its own: most of a
// case is waiting for a chip that has nothing to do.
import { spawn } from "node:child_process";
import { authority, PORT } from "./rig.js";

/** A platform, TLS before it, and what a case listens at itself. */
const PORTS = 10;

/**
 * Starts this program once for each name, `count` at a time, in the given order, and prints what
 * each said when it is over. Resolves with how many failed.
 */
export async function sideBySide(
  names: readonly string[],
  count: number,
  words: readonly string[],
): Promise<number> {
  // One for all: it is made where there is none.
  authority();
  const waiting = [...names];
  let failures = 0;
  const lane = async (number: number): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      if (!(await runs(name, PORT + PORTS * number, words))) failures++;
  };
  await Promise.all(Array.from({ length: count }, (_, number) => lane(number)));
  return failures;
}

function runs(name: string, port: number, words: readonly string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const own = ["--case", name, "--port", String(port)];
    const all = [...process.execArgv, process.argv[1]!, ...own, ...words];
    const child = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "inherit"] });
    const said: Buffer[] = [];
    child.stdout.on("data", (bytes: Buffer) => said.push(bytes));
    child.on("error", reject);
    child.on("close", (code) => {
      // The first line is that of all.
      const text = Buffer.concat(said).toString();
      process.stdout.write(text.slice(text.indexOf("\n") + 1));
      // What a case threw beside its own promise ends its process without a word of the case.
      if (code !== 0 && !text.includes("\nFAIL "))
        console.log(`FAIL  ${name}: its process ended with ${code}`);
      resolve(code === 0);
    });
  });
}
