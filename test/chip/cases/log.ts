// The lines that a board keeps in memory that no reset clears, and where it panicked.
import type { LogAnswer } from "../../../extras/diagnostics/index.js";
import { findElf, placesInLine } from "../../../tools/moddable/esp32/addr2line.js";
import { logAnswer } from "../../../tools/operator/device-log.js";
import { Bench, imageOf, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";
import { PROFILE } from "../rig.js";

// Room for the lines of three runs in one answer.
const SETTINGS = { program: "log-app", more: { rpc: { answerBytes: 2048 } } } as const;

export const LOG: Case = {
  name: "log",
  title:
    "the lines of before a panic, an exception and a restart are read afterwards, with the functions that it panicked in",
  async run() {
    await using bench = await Bench.open("log", SETTINGS, "soft");
    const elf = findElf((await imageOf(SETTINGS)).folder);
    await bench.online();
    const first = await read(bench);
    check(texts(first).includes("start: power on"), texts(first).join("\n"));
    check(first.build === elf.build, `${first.build}, not ${elf.build}`);
    await bench.ask("say", { line: "before the panic" });
    await bench.ask("fault", { kind: "panic" });
    const last = await after(bench, first, "panic");
    check(texts(last).includes("before the panic"), texts(last).join("\n"));
    check(texts(last).includes("the run before ended with: panic"), texts(last).join("\n"));
    const [, build] = BACKTRACE.exec(texts(last).join("\n")) ?? [];
    check(build === elf.build, texts(last).join("\n"));
    const places = placesInLine(elf, texts(last).find((text) => BACKTRACE.test(text)) ?? "").map((line) =>
      line.replace(/^\S+ +| .*$/g, ""),
    );
    // What panicked, who asked for it, and what ran that.
    for (const name of ["panic_abort", "xs_abort", "xs_timer_callback"])
      check(places.includes(name), places.join(" "));
    await bench.ask("say", { line: "before the exception" });
    await bench.ask("fault", { kind: "throw" });
    const thrown = await after(bench, last, "throw");
    check(/the run before ended with: .*on purpose/.test(texts(thrown).join("\n")), texts(thrown).join("\n"));
    for (const line of ["before the panic", "before the exception"])
      check(texts(thrown).includes(line), texts(thrown).join("\n"));
    await secretless(bench, thrown);
    return { places: places.join(" "), lines: thrown.lines.length };
  },
};

const BACKTRACE = /^backtrace of ([0-9a-f]{16}): (.+)$/m;
const texts = ({ lines }: LogAnswer): string[] => lines.map(([, , text]) => text);

const isStart = (text: string): boolean => text.startsWith("start: ");
const starts = (answer: LogAnswer): number => texts(answer).filter(isStart).length;
const isOnline = (answer: LogAnswer): boolean =>
  texts(answer).lastIndexOf("online") > texts(answer).findLastIndex(isStart);

async function read(bench: Bench): Promise<LogAnswer> {
  const answer = logAnswer(await bench.ask("mote.log", {}));
  if (!answer) throw new Error("mote.log is not answered");
  return answer;
}

/** As soon as it is up once more. */
async function after(bench: Bench, before: LogAnswer, kind: string): Promise<LogAnswer> {
  let last = before;
  await bench.until(ONLINE_MS, `the lines after the ${kind}`, async () => {
    last = await read(bench).catch(() => before);
    return starts(last) > starts(before) && isOnline(last);
  });
  return last;
}

async function secretless(bench: Bench, answer: LogAnswer): Promise<void> {
  const { credentialsId: token } = await bench.tenant.devices.credentials(await bench.needId());
  const all = JSON.stringify(answer);
  for (const one of [token, PROFILE.secret]) check(!all.includes(one), "a secret is in the lines");
}
