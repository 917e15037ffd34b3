// A whole board: from the first power-on to a point, through restarts, crashes, and an update.
import test, { type ExecutionContext } from "ava";
import type { Machine } from "../../../hosts/esp32/board-hardware.js";
import { startBoard } from "../../../hosts/esp32/start.js";
import type { AppHost, Application } from "../../../hosts/shared/application.js";
import type { Agent } from "../../../src/index.js";
import { FakeFlash } from "../../fakes/flash.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";
import { answer } from "../../fakes/server.js";
import { sha256 } from "../../src/agent/firmware/rig.js";
import { pattern } from "../port/check.js";
import { BUILT, FakeBoard, type FakeRadio } from "./board.js";

const NAME = "mote-240ac4000102";
const CONFIG = {
  baseUrl: "http://platform.test",
  wifi: { ssid: "home", password: "correct horse" },
  provisioning: { key: KEY, secret: SECRET },
  firmware: { title: "lamp", version: "1.0.0", allowHttp: true },
  intervalMs: 1000,
};

interface Rig {
  readonly board: FakeBoard;
  readonly platform: FakePlatform;
  /** Power, or a reset by ESP-IDF's number. */
  start(reset?: number, application?: Application): Agent | undefined;
}

const silent: Application = () => {};

function rig(t: ExecutionContext, config: Record<string, unknown> = CONFIG): Rig {
  const board = new FakeBoard(config);
  const platform = new FakePlatform(board.clock, board.net);
  board.time = BUILT + 1000;
  let agent: Agent | undefined;
  board.onRadio = (radio) => {
    radio.onConnect = () => void board.clock.timer(500, () => radio.connection === 300 && radio.become(500));
  };
  t.teardown(async () => {
    const stopped = agent?.stop();
    await board.clock.advance(0);
    await stopped;
  });
  return {
    board,
    platform,
    start(reset = 1, application = silent) {
      for (const peer of board.net.peers) if (!peer.closed) peer.onClose?.();
      void agent?.stop();
      agent = startBoard(board.boot(reset), application);
      return agent;
    },
  };
}

test("a board with the slots of an earlier release goes on, and says what an image may take", async (t) => {
  const { board, start } = rig(t);
  start();
  t.notRegex(board.lines.join("\n"), /laid out/);
  board.slots = [new FakeFlash(0x180000, 4096), new FakeFlash(0x180000, 4096)];
  const agent = start();
  t.regex(
    board.lines.join("\n"),
    /warn: the flash was laid out by an earlier release: an image may take 1572864 bytes/,
  );
  await board.clock.advance(10_000);
  t.is(agent?.state, "online");
});

test("from power-on to a point: joined, provisioned, the token in NVS, the point delivered", async (t) => {
  const { board, platform, start } = rig(t);
  start(1, (agent, host) => {
    t.deepEqual(host.settings, { intervalMs: 1000, version: "1.0.0" });
    agent.telemetry.record({ temperature: 21.5 });
  });
  await board.clock.advance(10_000);
  const device = platform.device(NAME);
  t.is(platform.points(device, "temperature").length, 1);
  const { mac, resetReason, crash, freeMemory, leastFreeMemory } = platform.attributes(device);
  t.deepEqual(
    { mac, resetReason, crash, freeMemory, leastFreeMemory },
    { mac: "240ac4000102", resetReason: "power on", crash: "", freeMemory: 150_000, leastFreeMemory: 90_000 },
  );
  t.true([...(board.nvs.get("mote")?.keys() ?? [])].length > 0);
  t.false(board.lines.join("\n").includes(SECRET) || board.lines.join("\n").includes("correct horse"));
});

test("an application reaches neither the agent's stored values nor its part of the machine", async (t) => {
  const { board, start } = rig(t);
  let host: AppHost | undefined;
  const application: Application = (_, given) => {
    host = given;
  };
  start(1, application);
  await board.clock.advance(120_000);
  const agentKeys = [...(board.nvs.get("mote")?.keys() ?? [])];
  t.true(agentKeys.includes("token"));
  const members = Object.keys(host!);
  for (const name of ["slot", "blocks", "open", "redactor", "own", "mac"])
    t.false(members.includes(name), name);
  const value = new Uint8Array([1, 2]);
  for (const key of agentKeys) {
    const before = board.nvs.get("mote")?.get(key);
    t.is(host!.store.get(key), undefined, key);
    t.false(host!.store.set(key, value), key);
    t.false(host!.store.delete(key), key);
    t.is(board.nvs.get("mote")?.get(key), before, key);
  }
  t.is(board.lines.filter((line) => line.includes("belongs to the agent")).length, 1, "one warning a run");
  t.true(host!.store.set("offset", value));
  start(1, application);
  t.deepEqual(host!.store.get("offset"), value);
  t.true(host!.store.delete("offset"));
});

for (const scheme of ["https", "http"])
  test(`without a time server the next start over ${scheme} begins with ${scheme === "https" ? "the platform's time" : "the build's: anybody may have said another"}`, async (t) => {
    const { board, platform, start } = rig(t, { ...CONFIG, baseUrl: `${scheme}://platform.test` });
    const later = BUILT + 40_000_000;
    board.time = undefined;
    platform.fault = ({ peer }) => ({
      answer: (bytes) => {
        const date = `$1Date: ${new Date(later * 1000).toUTCString()}\r\n`;
        peer.send(
          Buffer.from(
            Buffer.from(bytes)
              .toString("latin1")
              .replace(/^(.*\r\n)/, date),
            "latin1",
          ),
        );
      },
    });
    start(1, (agent) => agent.telemetry.record({ n: 1 }));
    // Over TLS one connection serves polls and telemetry in turn.
    await board.clock.advance(30_000);
    t.is(platform.points(platform.device(NAME), "n").length, 1);
    start(1);
    t.is(board.wall.known, false);
    t.is(
      Math.floor((board.wall.seconds - BUILT) / 60),
      scheme === "https" ? Math.floor((later - BUILT) / 60) : 0,
    );
  });

test("main runs while the access point is away, and what is recorded then arrives later, over a power loss too", async (t) => {
  const { board, platform, start } = rig(t);
  const join = board.onRadio;
  board.onRadio = () => {};
  start(1, (agent) => agent.telemetry.record({ n: 1 }));
  await board.clock.advance(120_000);
  board.onRadio = join;
  start(1, (agent) => agent.telemetry.record({ n: 2 }));
  await board.clock.advance(120_000);
  t.deepEqual(
    platform.points(platform.device(NAME), "n").map(({ value }) => value),
    [1, 2],
  );
});

test("Wi-Fi that was gone for 92 s and returns: the platform is reached at once, not after a back-off", async (t) => {
  const { board, platform, start } = rig(t);
  const radios: Parameters<NonNullable<typeof board.onRadio>>[0][] = [];
  const join = board.onRadio;
  let there = true;
  board.onRadio = (radio) => {
    radios.push(radio);
    join?.(radio);
    const { onConnect } = radio;
    radio.onConnect = () => there && onConnect();
  };
  const connect = board.net.onConnect;
  board.net.onConnect = (peer) => (there ? connect?.(peer) : void peer.reset("no route"));
  const agent = start(1, (made) => void board.clock.timer(20_000, () => made.telemetry.record({ n: 1 })));
  await board.clock.advance(10_000);
  t.is(agent?.state, "online");
  there = false;
  for (const peer of board.net.peers) if (!peer.closed) peer.reset("no route");
  radios.at(-1)?.become(200);
  await board.clock.advance(92_000);
  t.is(agent?.state, "offline");
  there = true;
  await board.clock.runUntil(() => radios.at(-1)?.connection === 500);
  await board.clock.advance(1000);
  t.is(agent?.state, "online");
  await board.clock.advance(1000);
  t.is(platform.points(platform.device(NAME), "n").length, 1);
});

test("a crash is reported by the next start, as a client attribute, and forgotten by the one after", async (t) => {
  const { board, platform, start } = rig(t);
  start();
  await board.clock.advance(5000);
  board.abort?.("unhandled exception", new RangeError("too far"));
  start(3);
  await board.clock.advance(5000);
  const device = platform.device(NAME);
  t.regex(String(platform.attributes(device).crash), /^unhandled exception: RangeError: too far/);
  t.is(platform.attributes(device).resetReason, "software");
  start(1);
  await board.clock.advance(5000);
  t.is(platform.attributes(device).crash, "");
});

test("of a crash that goes on the first cause is kept, and the board restarts at once", async (t) => {
  const { board, platform, start } = rig(t);
  start();
  await board.clock.advance(10_000);
  const [before, writes] = [board.restarts, board.nvsWrites];
  board.abort?.("unhandled exception", new RangeError("too far"));
  t.is(board.restarts, before + 1);
  for (let again = 0; again < 300; again++)
    board.abort?.("unhandled exception", new TypeError("cannot coerce undefined"));
  t.is(board.nvsWrites, writes + 1);
  start(3);
  await board.clock.advance(10_000);
  t.regex(
    String(platform.attributes(platform.device(NAME)).crash),
    /^unhandled exception: RangeError: too far/,
  );
});

test("an application that crashes again and again is left out, and the board can be reached", async (t) => {
  const { board, platform, start } = rig(t);
  const broken: Application = () => {
    throw new RangeError("too far");
  };
  for (let n = 0; n < 5; n++) {
    const error = t.throws(() => start(n === 0 ? 1 : 3, broken));
    board.abort?.("unhandled exception", error);
    await board.clock.advance(1000);
  }
  start(3, broken);
  await board.clock.advance(5000);
  const { moteRecovery } = platform.attributes(platform.device(NAME));
  t.regex(String(moteRecovery), /RangeError: too far/);
});

async function assign({ board, platform }: Rig, image: Uint8Array): Promise<void> {
  const at = (key: string, value: unknown) => ({ [key]: value });
  platform.setShared(platform.device(NAME), {
    ...at("fw_title", "lamp"),
    ...at("fw_version", "2.0.0"),
    ...at("fw_size", image.length),
    ...at("fw_checksum_algorithm", "SHA256"),
    ...at("fw_checksum", sha256(image)),
  });
  platform.fault = (request) => {
    const { pathname, searchParams } = new URL(request.path, "http://platform.test");
    if (!pathname.endsWith("/firmware")) return undefined;
    const size = Number(searchParams.get("size") ?? image.length);
    const from = Number(searchParams.get("chunk")) * size;
    const bytes = image.subarray(from, from + size);
    request.peer.send(answer(200, "", { "Content-Length": `${bytes.length}` }));
    request.peer.send(bytes);
    return "hang";
  };
  await board.clock.advance(120_000);
}

test("an update is downloaded, activated, runs on trial, and is kept once it reached the platform", async (t) => {
  const made = rig(t);
  const { board, start } = made;
  start();
  await board.clock.advance(5000);
  await assign(made, pattern(50_000, 0xe9));
  t.is(board.next, 1, board.lines.join("\n"));
  t.true(board.restarts > 0);
  board.config = { ...CONFIG, firmware: { ...CONFIG.firmware, version: "2.0.0" } };
  start(3);
  t.is(board.running, 1);
  t.is(board.states[1], 1);
  await board.clock.advance(60_000);
  t.is(board.states[1], 2);
  for (const flash of board.slots) t.deepEqual(flash.violations, []);
});

test("power that goes while an image is activated costs no board, and no second download", async (t) => {
  const made = rig(t);
  const { board, start } = made;
  start();
  await board.clock.advance(5000);
  let powerLosses = 0;
  board.unfit = () => {
    if (powerLosses++ === 0) board.powerOff();
    return false;
  };
  await assign(made, pattern(50_000, 0xe9));
  t.is(powerLosses, 1);
  t.is(board.next, 0);
  start(1);
  t.is(board.running, 0);
  await board.clock.advance(900_000);
  t.is(board.next, 1, board.lines.join("\n"));
  board.config = { ...CONFIG, firmware: { ...CONFIG.firmware, version: "2.0.0" } };
  start(3);
  await board.clock.advance(60_000);
  t.deepEqual([board.running, board.states[1]], [1, 2]);
  for (const flash of board.slots) t.deepEqual(flash.violations, []);
});

for (const [what, reset, error] of [
  ["a power loss", 1, "power was lost before the new image was confirmed"],
  ["a panic", 4, "the new image ended before it was confirmed (panic)"],
] as const) {
  test(`${what} on trial is reported as such by the image before`, async (t) => {
    const made = rig(t);
    const { board, platform, start } = made;
    start();
    await board.clock.advance(5000);
    await assign(made, pattern(50_000, 0xe9));
    board.config = { ...CONFIG, firmware: { ...CONFIG.firmware, version: "2.0.0" } };
    start(3);
    t.is(board.running, 1);
    board.config = CONFIG;
    start(reset);
    t.is(board.running, 0);
    await board.clock.advance(50_000);
    const reported = platform.points(platform.device(NAME), "fw_error").map(({ value }) => value);
    t.deepEqual(
      reported.filter((value) => value !== ""),
      [error],
    );
  });
}

test("an update with a wrong configuration gives way to the image before it at once", async (t) => {
  const made = rig(t);
  const { board, start } = made;
  start();
  await board.clock.advance(5000);
  await assign(made, pattern(50_000, 0xe9));
  const before = board.restarts;
  board.config = { ...CONFIG, provisioning: undefined };
  t.is(start(3), undefined);
  t.is(board.restarts, before + 1);
  start(3);
  t.is(board.running, 0);
});

test("a wrong configuration is reported every minute and restarts nothing", async (t) => {
  const { board, start } = rig(t, { ...CONFIG, baseUrl: "nonsense" });
  t.is(start(), undefined);
  await board.clock.advance(600_000);
  t.is(board.lines.filter((line) => line.includes("configuration is wrong")).length, 11);
  t.is(board.restarts, 0);
});

test("without its partitions and NVS a board runs all the same, and says what is missing", async (t) => {
  const { board, platform, start } = rig(t, { ...CONFIG, provisioning: undefined, token: "T1" });
  platform.create(NAME, "T1");
  board.missing = ["outbox", "nextota", "mote", "mote-host"];
  start(1, (agent) => agent.telemetry.record({ n: 1 }));
  await board.clock.advance(10_000);
  t.is(platform.points(platform.device(NAME), "n").length, 1);
  for (const name of board.missing)
    t.true(
      board.lines.some((line) => line.includes(`"${name}"`)),
      name,
    );
});

test("a boot loader that does not fall back is reported", (t) => {
  const { board, start } = rig(t);
  start();
  board.states[0] = 0;
  board.next = 0;
  const machine = board.machine();
  startBoard(machine, silent)?.stop();
  t.true(board.lines.some((line) => line.includes("does not fall back")));
});

test("a network that is joined and leads nowhere is joined again after 15 minutes", async (t) => {
  const { board, platform, start } = rig(t);
  start();
  await board.clock.advance(5000);
  platform.fault = () => "hang";
  const joins = board.joins.length;
  await board.clock.advance(1_800_000);
  t.true(board.joins.length > joins);
  platform.fault = undefined;
  await board.clock.advance(600_000);
  const since = board.joins.length;
  await board.clock.advance(3_600_000);
  t.is(board.joins.length, since);
  t.is(board.restarts, 0);
});

test("an agent that hangs restarts the board; one that works, or was stopped, does not", async (t) => {
  const { board, start } = rig(t);
  const agent = start();
  await board.clock.advance(7_200_000);
  t.is(board.restarts, 0);
  const stopped = agent?.stop();
  await board.clock.advance(7_200_000);
  await stopped;
  t.is(board.restarts, 0);
});

test("three quick power cycles bring a board up without its application, unless the configuration says that it is switched off after seconds", async (t) => {
  for (const powerCycles of [undefined, false]) {
    const { board, platform, start } = rig(t, { ...CONFIG, ...(powerCycles === false && { powerCycles }) });
    let applications = 0;
    // Wakes and crashes in between are none.
    for (const reset of [1, 8, 1, 4, 1, 1, 1]) {
      board.powerOff();
      start(reset, () => applications++);
      await board.clock.advance(reset === 8 ? 20_000 : 8000);
    }
    t.is(applications, powerCycles === false ? 7 : 6);
    const { moteRecovery } = platform.attributes(platform.device(NAME));
    t.is(moteRecovery, powerCycles === false ? undefined : "quick power cycles");
  }
});

// A board that sleeps between its samples: each wake a start of the whole board.

const BEGAN = Date.UTC(2026, 6, 1);
const MINUTE = 60_000;
const HOUR = 3_600_000;
/** As ESP-IDF numbers the states of an image. */
const [PENDING, VALID] = [1, 2];
const SLEEP_CONFIG = {
  baseUrl: "http://platform.test",
  wifi: { ssid: "home", password: "correct horse" },
  provisioning: { key: KEY, secret: SECRET },
  firmware: { title: "lamp", version: "1.0.0", allowHttp: true },
  cycle: { everyMs: MINUTE, connectEvery: 5, timeoutMs: 20_000 },
};

class Nights {
  readonly board: FakeBoard;
  readonly platform: FakePlatform;
  application: Application;
  n = 0;
  /** How much the sleeping clock gains. */
  fast = 0;
  /** When each sample was taken. */
  readonly at: number[] = [];

  constructor(t: ExecutionContext, config: Record<string, unknown> = SLEEP_CONFIG) {
    this.board = new FakeBoard(config);
    this.platform = new FakePlatform(this.board.clock, this.board.net);
    // The board has no time but the platform's.
    this.platform.dates = () => BEGAN + this.board.clock.now();
    this.board.time = undefined;
    this.board.onRadio = (radio) => {
      radio.onConnect = () =>
        void this.board.clock.timer(500, () => radio.connection === 300 && radio.become(500));
    };
    this.application = () => () => {
      this.at.push(this.board.clock.now());
      return { n: this.n++ };
    };
    t.teardown(() => this.board.clock.advance(HOUR));
  }

  /** One wake, from a start to the next sleep. */
  async wake(machine: Machine = this.board.boot(1)): Promise<Agent | undefined> {
    const agent = startBoard(machine, this.application);
    await this.board.clock.runUntil(() => this.board.sleep !== undefined || this.board.restarts > 0, HOUR);
    return agent;
  }

  async deepSleep(): Promise<Agent | undefined> {
    return this.wake(await this.board.deepSleep(this.fast));
  }
}

test("the first wake joins, delivers and sleeps; those that only record never switch the radio on and write no NVS", async (t) => {
  const nights = new Nights(t);
  const { board } = nights;
  await nights.wake();
  t.is(board.joins.length, 1);
  t.is(board.radio?.closed, true);
  // A wake that is over makes a power cycle a slow one.
  await nights.deepSleep();
  const [writes, joins] = [board.nvsWrites, board.joins.length];
  let idle = 0;
  for (; board.joins.length === joins; idle++) {
    await nights.deepSleep();
    if (board.joins.length === joins) t.is(board.nvsWrites, writes);
  }
  t.true(idle >= 1 && idle <= 5, `${idle}`);
  t.is(nights.platform.points(nights.platform.device(NAME), "n").length, nights.n);
  for (let i = 0; i < 10; i++) await nights.deepSleep();
  t.is(board.joins.length, joins + 3);
  t.true(board.nvsWrites - writes <= 3, `${board.nvsWrites - writes} writes in all`);
});

test("with a clock that gains 5 % asleep time stamps stay within what it gained and in order, also when it is set back by minutes", async (t) => {
  const nights = new Nights(t, { ...SLEEP_CONFIG, cycle: { everyMs: MINUTE, connectEvery: 60 } });
  nights.fast = 0.05;
  await nights.wake();
  for (let i = 0; i < 200; i++) await nights.deepSleep();
  const points = nights.platform.points(nights.platform.device(NAME), "n");
  t.true(points.length >= 140, `${points.length}`);
  t.deepEqual(
    points.map(({ value }) => value),
    [...Array(points.length).keys()],
  );
  const errors = points.map(({ ts }, n) => Math.abs(ts - (BEGAN + (nights.at[n] ?? 0))));
  t.log(`worst ${Math.max(...errors)} ms, later ${Math.max(...errors.slice(130))} ms`);
  t.true(Math.max(...errors) > 65_000, "it is set back by more than lies between two samples");
  t.true(Math.max(...errors) <= 190_000);
  t.true(Math.max(...errors.slice(130)) <= 6000);
});

test("a power loss forgets what is kept asleep, and nothing else", async (t) => {
  const nights = new Nights(t);
  await nights.wake();
  await nights.deepSleep();
  await nights.deepSleep();
  nights.board.powerOff();
  await nights.wake(nights.board.boot(1));
  t.is(nights.board.joins.length >= 2, true, "the first wake after power-on connects");
  t.is(nights.platform.points(nights.platform.device(NAME), "n").length, nights.n);
});

test("an access point that is away, or never answers, leaves a wake time for the second network", async (t) => {
  for (const answers of [true, false]) {
    const second = { ssid: "shed", password: "another horse" };
    const cycle = { ...SLEEP_CONFIG.cycle, timeoutMs: 30_000 };
    const nights = new Nights(t, { ...SLEEP_CONFIG, cycle, wifi: { ...SLEEP_CONFIG.wifi, second } });
    const { board } = nights;
    board.onRadio = (radio) => {
      radio.onConnect = () => {
        const isThere = radio.asked.at(-1)!.SSID === second.ssid;
        if (answers || isThere)
          board.clock.timer(2000, () => radio.connection === 300 && radio.become(isThere ? 500 : 200));
      };
    };
    await nights.wake();
    t.deepEqual(
      board.joins.slice(0, 2).map(({ SSID }) => SSID),
      ["home", "shed"],
    );
    t.is(nights.platform.points(nights.platform.device(NAME), "n").length, 1, `answers: ${answers}`);
  }
});

test("an access point that is away costs a wake its deadline, and the attempts grow rare", async (t) => {
  const nights = new Nights(t);
  nights.board.onRadio = () => {};
  const took: number[] = [];
  for (let i = 0; i < 120; i++) {
    const began = nights.board.clock.now();
    await (i === 0 ? nights.wake() : nights.wake(await nights.board.deepSleep()));
    took.push(nights.board.clock.now() - began - (i === 0 ? 0 : MINUTE));
  }
  const attempts = took.filter((ms) => ms > -MINUTE + 1000 && ms > 10_000).length;
  t.true(nights.board.joins.length <= 12, `${nights.board.joins.length} joins`);
  t.true(attempts <= 12, `${attempts}`);
});

test("a board that crashed again and again stays within reach at each wake without its application, until an hour is over", async (t) => {
  const nights = new Nights(t);
  nights.application = () => {
    throw new Error("broken");
  };
  const { board } = nights;
  for (let i = 0; i < 5; i++) {
    t.throws(() => startBoard(board.boot(i === 0 ? 1 : 4), nights.application));
    board.powerOff();
  }
  let sampled = 0;
  nights.application = () => () => {
    sampled++;
    return { n: 1 };
  };
  await nights.wake(board.boot(4));
  t.is(sampled, 0);
  t.like(nights.platform.attributes(nights.platform.device(NAME)), { resetReason: "panic" });
  const joins = board.joins.length;
  for (let i = 0; i < 5; i++) await nights.deepSleep();
  t.is(board.joins.length, joins + 5);
  t.is(sampled, 0);
  for (let i = 0; i < 60; i++) await nights.deepSleep();
  t.true(sampled > 0);
});

test("Wi-Fi that is lost and returns while a sleeping board tries an image: the platform is reached at once", async (t) => {
  const nights = new Nights(t);
  const { board } = nights;
  await nights.wake();
  let isThere = true;
  let isLost = false;
  let returnedAt = 0;
  const connect = board.net.onConnect;
  board.net.onConnect = (peer) => (isThere ? connect?.(peer) : void peer.reset("no route"));
  const lose = (radio: FakeRadio): void => {
    isLost = true;
    isThere = false;
    for (const peer of board.net.peers) if (!peer.closed) peer.reset("no route");
    radio.become(200);
    board.clock.timer(92_000, () => {
      isThere = true;
    });
  };
  board.onRadio = (radio) => {
    radio.onConnect = () =>
      void board.clock.timer(500, () => {
        if (radio.connection !== 300) return;
        const [returns, loses] = [isThere && isLost, !isLost];
        if (returns) returnedAt = board.clock.now();
        radio.become(isThere ? 500 : 200);
        if (loses) lose(radio);
      });
  };
  const machine = await board.deepSleep();
  board.states[board.running] = PENDING;
  await nights.wake(machine);
  t.true(returnedAt > 0);
  t.is(board.states[board.running], VALID);
  t.true(board.sleep!.since - returnedAt < 3000, `${board.sleep!.since - returnedAt} ms`);
});

test("whatever keeps a wake from its end, the board sleeps", async (t) => {
  const nights = new Nights(t);
  nights.application = (agent) => {
    Object.assign(agent, { runOnce: () => new Promise(() => {}) });
  };
  await nights.wake();
  t.truthy(nights.board.sleep);
  t.true(nights.board.clock.now() <= 610_000);
});

test("a wrong cycle is reported", async (t) => {
  for (const cycle of [5, { everyMs: 1 }, { timeoutMs: -1 }, { often: 1 }]) {
    const nights = new Nights(t, { ...SLEEP_CONFIG, cycle });
    t.is(startBoard(nights.board.boot(1), nights.application), undefined);
    t.true(
      nights.board.lines.some((line) => line.includes("cycle")),
      JSON.stringify(cycle),
    );
  }
});
