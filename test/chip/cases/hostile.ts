import { planMemory, SMALLEST } from "../../../hosts/esp32/memory-plan.js";
import { Bench } from "../bench.js";
import { type Case, check, type Figures } from "../case.js";

/** Levels of params; 32 is what the agent takes (MAX_DEPTH). */
const LEVELS = [1, 5, 10, 20, 29, 30, 31, 32, 33, 64, 500];
/** Characters of params, answers and attributes. */
const SIZES = [1000, 3000, 4000, 6000, 7900, 8300, 16_000, 65_000];
/** Bytes of an RPC beside a text in its params: its number, its method. */
const AROUND = 64;
const MANY_KEYS = 500;
/** What was sent is dealt with. */
const SETTLED_MS = 20_000;

const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const arrays = (levels: number): string => `${"[".repeat(levels)}1${"]".repeat(levels)}`;

async function attack(secure: boolean, say: (line: string) => void): Promise<Figures> {
  await using bench = await Bench.open(secure ? "hostile-tls" : "hostile", {
    secure,
    more: { connections: 3 },
  });
  const starts = (): number => bench.board.lines.filter((line) => line.startsWith("rst:")).length;
  const sent: string[] = [];
  const stillWorks = async (what: string): Promise<void> => {
    await bench.until(60_000, `an answer after ${what}`, () =>
      bench.ask("getStatus").then(
        () => true,
        () => false,
      ),
    );
    check(starts() === 1, `${what} restarted the board: ${bench.board.lines.slice(-12).join("\n")}`);
    sent.push(what);
  };
  const echo = async (what: string, params: unknown): Promise<void> => {
    const answer = await bench.ask("echo", params).catch((error: Error) => error.message);
    say(`${what}: ${JSON.stringify(answer)?.slice(0, 100)}`);
    await stillWorks(what);
  };
  await bench.online();
  for (const levels of LEVELS) {
    await echo(`params of ${levels} objects`, JSON.parse(objects(levels)));
    await echo(`params of ${levels} arrays`, { v: JSON.parse(arrays(levels)) });
  }
  const fits = { v: "x".repeat(planMemory(SMALLEST).limits.requestBytes - AROUND) };
  const whole = await bench.ask("echo", fits).catch((error: Error) => error.message);
  check(JSON.stringify(whole) === JSON.stringify(fits), `what fits was answered ${JSON.stringify(whole)}`);
  for (const size of SIZES) await echo(`params of ${size} characters`, { v: "x".repeat(size) });
  const id = await bench.needId();
  const attribute = async (what: string, values: Record<string, unknown>): Promise<void> => {
    await bench.tenant.attributes.set(id, "SHARED_SCOPE", values);
    await new Promise((go) => setTimeout(go, SETTLED_MS));
    await stillWorks(what);
  };
  await attribute("an attribute of 30 levels", { deep: JSON.parse(objects(30)) });
  await attribute("an attribute of 100 levels", { deep: JSON.parse(objects(100)) });
  for (const size of SIZES)
    await attribute(`an attribute of ${size} characters`, { large: "x".repeat(size) });
  const many = Array.from({ length: MANY_KEYS }, (_, n) => [`key-of-some-length-${n}`, n]);
  await attribute(`${MANY_KEYS} attributes`, Object.fromEntries(many));
  const memory = await bench.memory();
  return { sent: sent.length, restarts: 0, stackLeft: memory.stackLeft, leastFree: memory.leastFree };
}

const hostile = (secure: boolean): Case => ({
  name: secure ? "hostile-tls" : "hostile",
  title: `nothing that an operator sends restarts the board${secure ? ", over TLS" : ""}`,
  run: ({ say }) => attack(secure, say),
});

export const HOSTILE = hostile(false);
export const HOSTILE_TLS = hostile(true);
