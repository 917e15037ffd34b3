// A whole board: from the first power-on to a point, through restarts, crashes, an update and
// sleep.
import { createHash } from "node:crypto";
import test, { type ExecutionContext } from "ava";
import type { AppHost, Application } from "../../../hosts/device/application.js";
import { startBoard } from "../../../hosts/esp32/start.js";
import type { Agent } from "../../../src/index.js";
import { SECRET } from "../../fakes/platform.js";
import { answer } from "../../fakes/server.js";
import { pattern } from "../port/check.js";
import {
  ABORTED,
  BROWNOUT,
  BUILT,
  type FakeBoard,
  NEW,
  PANIC,
  PENDING,
  POWER_ON,
  SOFTWARE,
  VALID,
} from "./board.js";
import { HOME, NAME, plain, READY, type Rig, rig, silent } from "./rig.js";

const onBoard = (t: ExecutionContext, config: Record<string, unknown> = READY): Rig => rig(t, config, plain);
const lineWith = ({ lines }: FakeBoard, words: string): boolean => lines.some((line) => line.includes(words));
/** Breaks what is open, and makes no other connection until the returned function is called. */
function cutNetwork({ net }: FakeBoard): () => void {
  const connect = net.onConnect;
  net.onConnect = (peer) => void peer.reset("no route");
  for (const peer of net.peers) if (!peer.closed) peer.reset("no route");
  return () => {
    net.onConnect = connect;
  };
}

test("from power-on to a point: joined, provisioned, the token in NVS, no secret in its lines", async (t) => {
  const { board, platform, boot, device, values } = onBoard(t);
  boot((agent, host) => {
    t.deepEqual(host.settings, { intervalMs: 1000, version: "1.0.0" });
    agent.telemetry.record({ temperature: 21.5 });
  });
  await board.clock.advance(10_000);
  t.deepEqual(values("temperature"), [21.5]);
  t.like(platform.attributes(device()), {
    ...{ mac: "240ac4000102", resetReason: "power on", crash: "" },
    ...{ freeMemory: 150_000, leastFreeMemory: 90_000 },
  });
  t.true(board.nvs.get("mote")!.has("token"));
  t.true(lineWith(board, "info: online"));
  t.false(lineWith(board, SECRET) || lineWith(board, HOME.password));
  t.false(lineWith(board, "laid out"));
});

test("an application reaches neither the agent's stored values nor its part of the machine", async (t) => {
  const { board, boot } = onBoard(t);
  let host: AppHost | undefined;
  const application: Application = (_, given) => {
    host = given;
  };
  boot(application);
  await board.clock.advance(120_000);
  const nvs = board.nvs.get("mote")!;
  t.true(nvs.has("token"));
  for (const name of ["slot", "blocks", "open", "redactor", "own", "mac"]) t.false(name in host!, name);
  const value = new Uint8Array([1, 2]);
  for (const [key, before] of [...nvs]) {
    t.is(host!.store.get(key), undefined, key);
    t.false(host!.store.set(key, value) || host!.store.delete(key), key);
    t.is(nvs.get(key), before, key);
  }
  t.is(board.lines.filter((line) => line.includes("belongs to the agent")).length, 1, "one warning a run");
  t.true(host!.store.set("offset", value));
  boot(application);
  t.deepEqual(host!.store.get("offset"), value);
});

for (const scheme of ["https", "http"])
  test(`without a time server, a start over ${scheme} begins with the ${scheme === "https" ? "platform's" : "build's"} time`, async (t) => {
    const { board, platform, boot, values } = onBoard(t, { ...READY, baseUrl: `${scheme}://platform.test` });
    const later = BUILT + 40_000_000;
    board.time = undefined;
    platform.fault = ({ peer }) => ({
      answer: (bytes) => {
        const text = Buffer.from(bytes).toString("latin1");
        const dated = text.replace("\r\n", `\r\nDate: ${new Date(later * 1000).toUTCString()}\r\n`);
        peer.send(Buffer.from(dated, "latin1"));
      },
    });
    boot((agent) => agent.telemetry.record({ n: 1 }));
    await board.clock.advance(30_000);
    t.is(values("n").length, 1);
    boot(silent);
    t.is(board.wall.known, false);
    const minutes = (seconds: number): number => Math.floor((seconds - BUILT) / 60);
    t.is(minutes(board.wall.seconds), scheme === "https" ? minutes(later) : 0);
  });

test("the application runs without an access point; its points arrive later, over a power loss", async (t) => {
  const { board, boot, values } = onBoard(t);
  const { hears } = board;
  board.hears = () => undefined;
  boot((agent) => agent.telemetry.record({ n: 1 }));
  await board.clock.advance(120_000);
  board.hears = hears;
  boot((agent) => agent.telemetry.record({ n: 2 }));
  await board.clock.advance(120_000);
  t.deepEqual(values("n"), [1, 2]);
});

test("an application that owns the network: the time server is asked, and no outage restarts it", async (t) => {
  const { board, boot, values } = onBoard(t, { ...READY, wifi: false });
  boot((agent) => agent.telemetry.record({ n: 1 }));
  await board.clock.advance(60_000);
  t.deepEqual([values("n"), board.joins.length, board.wall.known], [[1], 0, true]);
  t.is<number | undefined, number | undefined>(board.wall.seconds, board.time, "from the time server");
  cutNetwork(board);
  await board.clock.advance(7_200_000);
  t.is(board.restarts, 0);
});

test("regression: Wi-Fi that returns after 92 s reaches the platform at once, not after a back-off", async (t) => {
  const { board, boot, values } = onBoard(t);
  const agent = boot((made) => void board.clock.timer(20_000, () => made.telemetry.record({ n: 1 })));
  await board.clock.advance(10_000);
  t.is(agent?.state, "online");
  const { hears } = board;
  board.hears = () => undefined;
  const restore = cutNetwork(board);
  board.radio!.become(200);
  await board.clock.advance(92_000);
  t.is(agent?.state, "offline");
  board.hears = hears;
  restore();
  await board.clock.runUntil(() => board.radio?.connection === 500);
  await board.clock.advance(2000);
  t.is(agent?.state, "online");
  t.deepEqual(values("n"), [1]);
});

test("regression: a repeated crash keeps its first cause, reported once, and restarts at once", async (t) => {
  const { board, platform, boot, device } = onBoard(t);
  boot(silent);
  await board.clock.advance(10_000);
  const [restarts, writes] = [board.restarts, board.nvsWrites];
  board.abort?.("unhandled exception", new RangeError("too far"));
  t.is(board.restarts, restarts + 1);
  for (let n = 0; n < 300; n++)
    board.abort?.("unhandled exception", new TypeError("cannot coerce undefined"));
  t.is(board.nvsWrites, writes + 1);
  boot(silent, SOFTWARE);
  await board.clock.advance(10_000);
  t.regex(String(platform.attributes(device()).crash), /^unhandled exception: RangeError: too far/);
  t.is(platform.attributes(device()).resetReason, "software");
  boot(silent);
  await board.clock.advance(10_000);
  t.is(platform.attributes(device()).crash, "");
});

test("an application that leaves no memory is told by name, and recovery mode takes its update", async (t) => {
  const all = onBoard(t);
  const { board, platform, boot, device } = all;
  boot(silent);
  await board.clock.advance(10_000);
  const greedy: Application = () => {
    board.room = 1000;
  };
  for (let i = 0; i < 5; i++) {
    board.room = Number.POSITIVE_INFINITY;
    boot(greedy, i === 0 ? POWER_ON : SOFTWARE);
    const { restarts } = board;
    await board.clock.advance(50_000);
    t.true(lineWith(board, "warn: memory is short: requests wait until some is free"));
    t.is(board.restarts, restarts);
    await board.clock.advance(15_000);
    t.true(board.restarts > restarts);
  }
  board.room = Number.POSITIVE_INFINITY;
  // The power fails just before the start.
  boot(greedy, POWER_ON);
  t.true(lineWith(board, "the run before ended with: memory full: requests waited for a minute"));
  t.true(lineWith(board, "the application takes more than its share of the engine's memory"));
  await board.clock.advance(65_000);
  board.room = Number.POSITIVE_INFINITY;
  boot(greedy, SOFTWARE);
  t.true(lineWith(board, "recovery mode: the application is not started (memory full"));
  await board.clock.advance(10_000);
  t.regex(String(platform.attributes(device()).moteRecovery), /^memory full/);
  await assign(all);
  t.is(board.next, 1);
});

test("with little memory left, an RPC is refused by name and shared attributes wait", async (t) => {
  const { board, platform, boot, device } = onBoard(t);
  const seen: unknown[] = [];
  boot((agent) => {
    agent.rpc.handle("echo", (params) => params);
    agent.attributes.subscribe("setting", (value) => void seen.push(value));
  });
  await board.clock.advance(10_000);
  const ask = async (text: string): Promise<string> => {
    const answers = platform.rpc(device(), "echo", text);
    await board.clock.advance(5000);
    return answers.map((answer) => answer.kind === "answer" && answer.text).join();
  };
  // Less than what requests wait for, so this asks the poll that is open.
  board.room = 2000;
  t.regex(await ask("x".repeat(600)), /"MEMORY_SHORT"/);
  board.room = 6000;
  t.is(await ask("x".repeat(600)), `"${"x".repeat(600)}"`);
  platform.setShared(device(), { setting: 1 });
  await board.clock.advance(90_000);
  t.deepEqual([seen, board.restarts], [[undefined], 0]);
  board.room = Number.POSITIVE_INFINITY;
  await board.clock.advance(10_000);
  t.deepEqual(seen, [undefined, 1]);
});

async function assign({ board, platform, device }: Rig): Promise<void> {
  const image = pattern(50_000, 0xe9);
  platform.setShared(device(), {
    ...{ fw_title: "lamp", fw_version: "2.0.0", fw_size: image.length },
    ...{ fw_checksum_algorithm: "SHA256", fw_checksum: createHash("sha256").update(image).digest("hex") },
  });
  platform.fault = (request) => {
    const { pathname, searchParams } = new URL(request.path, "http://platform.test");
    if (!pathname.endsWith("/firmware")) return undefined;
    const size = Number(searchParams.get("size") ?? image.length);
    const bytes = image.subarray(Number(searchParams.get("chunk")) * size).subarray(0, size);
    request.peer.send(answer(200, "", { "Content-Length": `${bytes.length}` }));
    request.peer.send(bytes);
    return "hang";
  };
  await board.clock.advance(120_000);
}
const NEXT = { ...READY, firmware: { ...READY.firmware, version: "2.0.0" } };

/** A board that runs, and activated the update that it was assigned. */
async function updated(t: ExecutionContext): Promise<Rig> {
  const all = onBoard(t);
  all.boot(silent);
  await all.board.clock.advance(5000);
  await assign(all);
  return all;
}

for (const isCut of [false, true])
  test(`an update is activated and confirmed${isCut ? ", over a power loss during activation" : ""}`, async (t) => {
    const all = onBoard(t);
    const { board, boot } = all;
    boot(silent);
    await board.clock.advance(5000);
    let activations = 0;
    board.unfit = () => {
      if (activations++ === 0 && isCut) board.powerOff();
      return false;
    };
    await assign(all);
    if (isCut) {
      t.deepEqual([activations, board.next], [1, 0]);
      boot(silent);
      t.is(board.running, 0);
      await board.clock.advance(900_000);
    }
    t.is(board.next, 1, board.lines.join("\n"));
    board.config = NEXT;
    boot(silent, SOFTWARE);
    t.deepEqual([board.running, board.states[1]], [1, PENDING]);
    await board.clock.advance(60_000);
    t.is(board.states[1], VALID);
    for (const flash of board.slots) t.deepEqual(flash.violations, []);
  });

for (const [what, reset, error] of [
  ["a power loss", POWER_ON, "power lost on trial"],
  ["a panic", PANIC, "not confirmed (panic)"],
] as const)
  test(`after ${what} on trial the image before returns and reports it`, async (t) => {
    const { board, boot, values } = await updated(t);
    board.config = NEXT;
    boot(silent, SOFTWARE);
    t.is(board.running, 1);
    await board.clock.advance(2000);
    board.config = READY;
    boot(silent, reset);
    t.is(board.running, 0);
    await board.clock.advance(50_000);
    const errors = values("fw_error").filter((value) => value !== "");
    t.deepEqual(errors, [error]);
  });

test("a self-test that the program passes to start decides over an image on trial", async (t) => {
  const { board, boot, values } = await updated(t);
  board.config = NEXT;
  const trial = startBoard(board.boot(SOFTWARE), silent, plain(), { selfTest: () => false });
  await board.clock.advance(60_000);
  void trial?.stop();
  board.config = READY;
  boot(silent, SOFTWARE);
  t.is(board.running, 0);
  await board.clock.advance(50_000);
  t.true(values("fw_error").includes("self-test failed"));
});

test("a wrong configuration rolls a trial back at once; a confirmed image reports it each minute", async (t) => {
  const { board, boot } = await updated(t);
  const { restarts } = board;
  board.config = { ...READY, provisioning: undefined };
  t.is(boot(silent, SOFTWARE), undefined);
  t.is(board.restarts, restarts + 1);
  boot(silent, SOFTWARE);
  t.is(board.running, 0);
  const wrong = onBoard(t, { ...READY, baseUrl: "nonsense" });
  t.is(wrong.boot(silent), undefined);
  await wrong.board.clock.advance(600_000);
  t.is(wrong.board.lines.filter((line) => line.includes("configuration is wrong")).length, 11);
  t.is(wrong.board.restarts, 0);
});

test("without its partitions and NVS a board runs, and says what is missing, as it does of its boot loader", async (t) => {
  const { board, platform, boot, values } = onBoard(t, { ...READY, provisioning: undefined, token: "T1" });
  platform.create(NAME, "T1");
  board.missing = ["outbox", "nextota", "mote", "mote-host"];
  boot();
  await board.clock.advance(10_000);
  t.deepEqual(values("n"), [1]);
  for (const name of board.missing) t.true(lineWith(board, `"${name}"`), name);
  board.states[0] = NEW;
  void startBoard(board.machine(), silent)?.stop();
  t.true(lineWith(board, "does not fall back"));
});

test("joins a network again that led nowhere for 15 minutes; a working agent prevents that", async (t) => {
  const { board, platform, boot } = onBoard(t);
  const agent = boot(silent);
  await board.clock.advance(5000);
  platform.fault = () => "hang";
  const joins = board.joins.length;
  await board.clock.advance(1_800_000);
  t.true(board.joins.length > joins);
  t.regex(board.lines.join("\n"), /^warn: offline: ./m);
  platform.fault = undefined;
  await board.clock.advance(600_000);
  const since = board.joins.length;
  await board.clock.advance(7_200_000);
  t.is(board.joins.length, since);
  await Promise.all([agent?.stop(), board.clock.advance(7_200_000)]);
  t.is(board.restarts, 0);
});

// A board that sleeps between its samples: each wake is a start of the whole board.

const MINUTE = 60_000;
const HOUR = 3_600_000;
const ASLEEP = { ...READY, cycle: { everyMs: MINUTE, connectEvery: 5, timeoutMs: 20_000 } };

/** `wake`: from a start to the next sleep. */
function sleeper(t: ExecutionContext, config: Record<string, unknown> = ASLEEP) {
  const all = onBoard(t, config);
  const { board, platform } = all;
  // The platform alone knows the time.
  platform.dates = () => Date.UTC(2026, 6, 1) + board.clock.now();
  board.time = undefined;
  const state = { samples: 0, application: (() => () => ({ n: state.samples++ })) as Application };
  t.teardown(() => board.clock.advance(HOUR));
  const wake = async (machine = board.boot(POWER_ON)): Promise<Agent | undefined> => {
    const agent = startBoard(machine, state.application);
    await board.clock.runUntil(() => board.sleep !== undefined || board.restarts > 0, HOUR);
    return agent;
  };
  return { ...all, state, wake, next: async () => wake(await board.deepSleep()) };
}

test("wakes that only record leave the radio off and write no NVS; a power loss costs no point", async (t) => {
  const { board, state, wake, next, values } = sleeper(t);
  await wake();
  t.deepEqual([board.joins.length, board.radio?.closed], [1, true]);
  // A wake that is over makes a power cycle a slow one.
  await next();
  const [writes, joins] = [board.nvsWrites, board.joins.length];
  let idle = 0;
  for (; board.joins.length === joins; idle++) {
    await next();
    if (board.joins.length === joins) t.is(board.nvsWrites, writes);
  }
  t.true(idle >= 1 && idle <= 5, `${idle}`);
  for (let i = 0; i < 10; i++) await next();
  t.is(board.joins.length, joins + 3);
  t.true(board.nvsWrites - writes <= 3, `${board.nvsWrites - writes} writes in all`);
  await next();
  board.powerOff();
  await wake();
  t.is(board.joins.length, joins + 4, "the first wake after power-on connects");
  t.is(values("n").length, state.samples);
});

test("a board that crashed again and again connects at each wake without its application, for an hour", async (t) => {
  const { board, platform, state, wake, next, device } = sleeper(t);
  const application = state.application;
  state.application = () => {
    throw new Error("broken");
  };
  for (let i = 0; i < 5; i++) {
    t.throws(() => startBoard(board.boot(i === 0 ? POWER_ON : PANIC), state.application));
    board.powerOff();
  }
  state.application = application;
  await wake(board.boot(PANIC));
  t.like(platform.attributes(device()), { resetReason: "panic" });
  const joins = board.joins.length;
  for (let i = 0; i < 5; i++) await next();
  t.deepEqual([board.joins.length, state.samples], [joins + 5, 0]);
  for (let i = 0; i < 60; i++) await next();
  t.true(state.samples > 0);
});

test("a wake that never ends is ended after ten minutes", async (t) => {
  const { board, state, wake } = sleeper(t);
  state.application = (agent) => {
    Object.assign(agent, { runOnce: () => new Promise(() => {}) });
  };
  await wake();
  t.truthy(board.sleep);
  t.true(board.clock.now() <= 610_000);
});

test("an image on trial whose wake has no end, or fails, gives way to the one before", async (t) => {
  for (const runOnce of [() => new Promise(() => {}), () => Promise.reject(new Error("mine"))]) {
    const { board, state, wake, next } = sleeper(t);
    await wake();
    board.states[1] = NEW;
    board.next = 1;
    state.application = (agent) => {
      Object.assign(agent, { runOnce });
    };
    await wake(board.boot(SOFTWARE));
    for (let n = 0; board.restarts === 0 && n < 3; n++) await next();
    t.is(board.restarts, 1);
    t.is(board.running, 1);
    board.boot(SOFTWARE);
    t.deepEqual([board.running, board.states[1]], [0, ABORTED]);
  }
});

test("a sleeping board whose application leaves no memory for requests ends up in recovery mode", async (t) => {
  const { board, state, wake } = sleeper(t);
  await wake();
  state.application = () => {
    board.room = 1000;
    return () => ({ n: 1 });
  };
  const isRecovering = (): boolean => board.lines.some((line) => line.includes("recovery mode"));
  for (let n = 0, restarts = 0; n < 20 && !isRecovering(); n++) {
    const hasCrashed = board.restarts > restarts;
    // A restart does not return.
    if (hasCrashed) board.powerOff();
    const machine = hasCrashed ? board.boot(SOFTWARE) : await board.deepSleep();
    restarts = board.restarts;
    board.room = Number.POSITIVE_INFINITY;
    startBoard(machine, state.application);
    await board.clock.runUntil(() => board.sleep !== undefined || board.restarts > restarts, HOUR);
  }
  t.true(isRecovering());
  t.true(board.lines.some((line) => line.includes("memory full: requests waited")));
  t.is(board.room, Number.POSITIVE_INFINITY, "the application is not started");
  t.false(
    board.lines.some((line) => line.includes("publish fewer")),
    "a wake has nothing to publish",
  );
});

test("after a brownout a sleeping board sleeps before it uses the radio again", async (t) => {
  const { board, state, wake, next } = sleeper(t);
  await wake();
  const [joins, { samples }] = [board.joins.length, state];
  board.powerOff();
  for (let n = 0; n < 3; n++) {
    const began = board.clock.now();
    await wake(board.boot(BROWNOUT));
    t.true(board.clock.now() - began < 1000);
    t.deepEqual([board.joins.length, state.samples, board.sleep?.ms], [joins, samples, MINUTE]);
    board.powerOff();
  }
  await next();
  t.deepEqual([board.joins.length, state.samples], [joins + 1, samples + 1]);
});
