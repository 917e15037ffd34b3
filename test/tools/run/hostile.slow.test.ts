import { fileURLToPath } from "node:url";
import test from "ava";
import { readBoot } from "../../../hosts/node/boot-record.js";
import { PATIENCE } from "../../../tools/run/child.js";
import { image, STAYS, updateTo } from "./images.js";
import { session, temporaryState } from "./session.js";

const WORKER = fileURLToPath(new URL("../../../tools/run/worker.js", import.meta.url));
/** Exit codes that had a meaning, or look like a good end. */
const CODES = [0, 3, 9, 74, 75, 76];
const FORGED = `
  const send = process.send ? process.send.bind(process) : () => {};
  const words = ["stopped", "restart", "reset", "refused", "inUse", "queue", "ready", "confirmed"];
  for (const how of words) send({ kind: how, how, secret: "", outcome: how });
  for (const odd of [null, 1, "text", [], {}, { kind: "failed", reason: "", unfit: true }]) {
    try { send(odd); } catch {}
  }
  try {
    const { writeSync } = process.getBuiltinModule("node:fs");
    for (const how of words) writeSync(3, JSON.stringify({ kind: "end", how, secret: "" }) + "\\n");
    writeSync(3, '{"cmd":"NODE_HANDLE"}\\nnull\\n{{{\\n\\u0000\\n');
  } catch {}`;

/** Each with the patience that shows its end soon. */
const IMAGES: Record<string, string> = {
  ...Object.fromEntries(CODES.map((code) => [`exits with ${code} at load`, exits(code, "load")])),
  ...Object.fromEntries([3, 75, 76].map((code) => [`exits with ${code} in setup`, exits(code, "setup")])),
  ...Object.fromEntries([3, 75, 76].map((code) => [`exits with ${code} later`, exits(code, "later")])),
  "forges every word and exits with 75": image(
    "2",
    `${FORGED} setTimeout(() => process.exit(75), 100);`,
  ).toString(),
  "forges every word and stays": image(
    "2",
    `${FORGED} setInterval(() => process.send?.({ kind: "heartbeat", lives: true }), 50);`,
  ).toString(),
  "never finishes loading": `setInterval(() => {}, 1000); await new Promise(() => {});\n${image("2")}`,
  "never finishes loading, and sends messages": `setInterval(() => process.send?.({ kind: "heartbeat", lives: true }), 50); await new Promise(() => {});\n${image("2")}`,
  "tells the agent to stop": image("2", `process.emit("message", { kind: "stop" }); ${STAYS}`).toString(),
  "says that its supervisor has gone": image("2", `process.emit("disconnect"); ${STAYS}`).toString(),
  "exits by a signal": image(
    "2",
    `process.kill(process.pid, "SIGTERM"); process.kill(process.pid, "SIGKILL");`,
  ).toString(),
  "does not let go at its end": image(
    "2",
    `process.on("exit", () => { for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }); process.exit(75);`,
  ).toString(),
};

function exits(code: number, when: "load" | "setup" | "later"): string {
  if (when === "load") return `process.exit(${code});\n${image("2")}`;
  return image(
    "2",
    when === "setup" ? `process.exit(${code});` : `setTimeout(() => process.exit(${code}), 100);`,
  ).toString();
}

const patience = { ...PATIENCE, stopMs: 1000, lookMs: 1000, looks: 15, startMs: 15_000, trialMs: 20_000 };

for (const [what, text] of Object.entries(IMAGES)) {
  test.serial(`rolls back an image on trial that ${what}`, async (t) => {
    const stateDir = temporaryState(t);
    const app = image("1", updateTo(Buffer.from(text)));
    const { eventLog, ended } = session(t, stateDir, app, { patience });
    let code: number | undefined;
    void ended.then((value) => {
      code = value as number;
    });
    const back = () => eventLog.starts.filter((start) => start === "1 confirmed").length >= 2;
    await eventLog.until(() => back() || code !== undefined, 90_000);
    t.is(code, undefined, "the run ended");
    t.true(eventLog.events.some(({ event, reason }) => event === "firmware.fallback" && reason === "failed"));
    t.is(readBoot(stateDir)?.state, "confirmed");
  });
}

for (const code of [0, 3, 9, 74, 75, 76]) {
  test.serial(`a confirmed image that begins to exit with ${code} ends in recovery mode`, async (t) => {
    const app = image("1", `setTimeout(() => process.exit(${code}), 20);`);
    const { eventLog } = session(t, temporaryState(t), app, { worker: WORKER });
    const { cause } = await eventLog.first("recovery", 60_000);
    t.is(cause, `exit code ${code}`);
  });
}

test.serial("a confirmed image that never finishes loading ends in recovery mode", async (t) => {
  const app = Buffer.from(`setInterval(() => {}, 1000); await new Promise(() => {});\n${image("1")}`);
  const { eventLog } = session(t, temporaryState(t), app, {
    worker: WORKER,
    patience: { ...patience, startMs: 5000 },
  });
  const { cause } = await eventLog.first("recovery", 90_000);
  t.is(cause, "it did not start in 5 s");
});

test.serial("orderly stops of a trial add up: the fifth start is the last", async (t) => {
  const stateDir = temporaryState(t);
  const app = image("1", updateTo(image("2", STAYS)));
  const seen: string[] = [];
  for (let run = 0; run < 8 && seen.at(-1) !== "back"; run++) {
    const { eventLog, stop } = session(t, stateDir, app);
    await eventLog.until(({ starts }) => starts.length === (run === 0 ? 2 : 1));
    t.is(await stop(), 0);
    seen.push(eventLog.starts.at(-1) === "2 pending" ? "trial" : "back");
  }
  t.deepEqual(seen, [...Array(5).fill("trial"), "back"]);
});

test.serial("an image that does not stop when asked has failed its trial", async (t) => {
  const stateDir = temporaryState(t);
  const app = image(
    "1",
    updateTo(
      image(
        "2",
        "setTimeout(() => { for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }, 50);",
      ),
    ),
  );
  const first = session(t, stateDir, app, { patience });
  await first.eventLog.until(({ starts }) => starts.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.is(await first.stop(), 0);
  const second = session(t, stateDir, app, { patience });
  await second.eventLog.until(({ starts }) => starts.length === 1);
  t.deepEqual(second.eventLog.starts, ["1 confirmed"]);
});
