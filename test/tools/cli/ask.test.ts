// A password is asked for on a terminal that a test plays.
import { PassThrough } from "node:stream";
import test from "ava";
import { INTERRUPTED } from "../../../hosts/node/exit.js";
import { askSecret } from "../../../tools/cli/ask.js";

/** `modes`: whether the terminal is asked to leave the echo to the program. */
function terminal(isTTY: boolean) {
  const modes: boolean[] = [];
  const setRawMode = (mode: boolean): void => void modes.push(mode);
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode });
  const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY });
  return { stdin, stderr, modes, process: { stdin, stderr } as unknown as NodeJS.Process };
}

test("what is typed is taken without being shown, and the terminal echoes again afterwards", async (t) => {
  const { stdin, stderr, modes, process } = terminal(true);
  const asked = askSecret("Password: ", process);
  stdin.write("s3cret x");
  stdin.write("\u007fü\r");
  t.is(await asked, "s3cret ü");
  t.is(stderr.read(), "Password: \n");
  t.deepEqual(modes, [true, false]);
});

test("Ctrl-C interrupts, Ctrl-D and the end of the input give nothing, and the terminal echoes again", async (t) => {
  const { stdin, modes, process } = terminal(true);
  const asked = askSecret("Password: ", process);
  stdin.write("s3c\u0003");
  const error = await t.throwsAsync(asked, { message: "interrupted" });
  t.is((error as { code?: unknown }).code, INTERRUPTED);
  t.deepEqual(modes, [true, false]);
  for (const end of ["\u0004", undefined]) {
    const other = terminal(true);
    const given = askSecret("Password: ", other.process);
    if (end === undefined) other.stdin.end();
    else other.stdin.write(end);
    t.is(await given, undefined);
  }
});

test("without a terminal nobody is asked", async (t) => {
  const { stderr, process } = terminal(false);
  t.is(await askSecret("Password: ", process), undefined);
  t.is(stderr.read(), null);
});
