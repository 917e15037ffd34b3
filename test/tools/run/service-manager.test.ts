import { readFileSync } from "node:fs";
import test from "ava";
import { FAILED, REFUSED, USAGE } from "../../../hosts/node/exit.js";
import { ServiceManager } from "../../../tools/run/service-manager.js";
import { SignsOfLife } from "../../../tools/run/signs-of-life.js";

class Rig {
  now = 0;
  readonly sent: string[][] = [];
  answer: Error | null = null;
  /** Undefined: each is done at once. */
  late: (() => void)[] | undefined;
  readonly manager = new ServiceManager(
    (variables, done) => {
      this.sent.push([...variables]);
      if (this.late) this.late.push(() => done(this.answer));
      else done(this.answer);
    },
    180_000,
    () => this.now,
  );

  start(): void {
    this.manager.event({ event: "started" }, "started greenhouse 1.0.0");
  }
}

test("it is ready when the worker started, once, whatever the network does", (t) => {
  const rig = new Rig();
  rig.manager.event({ event: "firmware.flashed" }, "firmware put in");
  rig.manager.beat(true);
  t.deepEqual(rig.sent, []);
  rig.start();
  rig.start();
  t.deepEqual(rig.sent, [["READY=1", "STATUS=started greenhouse 1.0.0"]]);
});

test("the watchdog is fed by signs of life of the agent alone, at most four times in its time", (t) => {
  const rig = new Rig();
  rig.start();
  rig.sent.length = 0;
  for (; rig.now < 180_000; rig.now += 5000) rig.manager.beat(true);
  t.deepEqual(rig.sent, Array(4).fill(["WATCHDOG=1"]));
  for (; rig.now < 400_000; rig.now += 5000) rig.manager.beat(false);
  t.is(rig.sent.length, 4, "the worker's heart beats, the agent is silent");
  rig.manager.beat(true);
  t.is(rig.sent.length, 5);
});

test("how it does goes along with the next sign of life, and once", (t) => {
  const rig = new Rig();
  rig.start();
  rig.sent.length = 0;
  rig.manager.event({ event: "offline" }, "offline: no answer");
  rig.manager.event({ event: "online" }, "online");
  rig.manager.event({ event: "telemetry.delivered" }, "delivered 1 point");
  rig.manager.beat(true);
  rig.now = 60_000;
  rig.manager.beat(true);
  t.deepEqual(rig.sent, [["WATCHDOG=1", "STATUS=online"], ["WATCHDOG=1"]]);
});

test("the end is announced once, and nothing after it", (t) => {
  const rig = new Rig();
  rig.start();
  rig.sent.length = 0;
  rig.manager.stopping();
  rig.manager.stopping();
  rig.manager.beat(true);
  t.deepEqual(rig.sent, [["STOPPING=1"]]);
});

test("one that hangs is not followed by more; what fails is said once", (t) => {
  const rig = new Rig();
  const said: string[] = [];
  rig.manager.warnBy((line) => void said.push(line));
  rig.late = [];
  rig.answer = new Error("spawn systemd-notify ENOENT\nmore");
  rig.start();
  rig.now = 100_000;
  rig.manager.beat(true);
  t.is(rig.sent.length, 1);
  for (const done of rig.late.splice(0)) done();
  rig.manager.beat(true);
  for (const done of rig.late.splice(0)) done();
  t.is(rig.sent.length, 2);
  t.deepEqual(said, ["systemd can't be notified (READY=1): spawn systemd-notify ENOENT"]);
});

test("without systemd there is none; a watchdog of another process is not ours", (t) => {
  t.is(ServiceManager.of({}, 1), undefined);
  t.truthy(ServiceManager.of({ NOTIFY_SOCKET: "/run/x", WATCHDOG_USEC: "180000000", WATCHDOG_PID: "7" }, 8));
});

test("the agent lives while it opens connections and something happens on them; one that sleeps, by its wakes", (t) => {
  let now = 0;
  const signs = new SignsOfLife(() => now);
  let happen: (() => void) | undefined;
  const open = signs.watch((_name, _port, _secure, event) => {
    happen = () => event("readable");
    return {} as never;
  });
  now = 1_799_999;
  t.true(signs.lives);
  open("host", 80, false, () => {});
  now = 3_599_998;
  t.true(signs.lives);
  happen?.();
  now += 1_800_000;
  t.false(signs.lives);
  signs.expectWakes(3_600_000);
  t.true(signs.lives);
  now += 3 * 3_600_000;
  t.false(signs.lives);
  signs.sign();
  t.true(signs.lives);
});

test("the unit waits longer than the longest pause after a crash, takes every notification, and gives up on a mistake alone", (t) => {
  const unit = readFileSync("tools/systemd/mote@.service", "utf8");
  const of = (name: string): string => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  t.is(of("Type"), "notify");
  t.is(of("NotifyAccess"), "all");
  t.true(Number(of("WatchdogSec")) >= 2 * 60);
  t.is(of("RestartPreventExitStatus"), `${USAGE} ${REFUSED}`);
  t.false(of("RestartPreventExitStatus").includes(`${FAILED}`));
  t.false(/^MemoryDenyWriteExecute/m.test(unit), "Node could not start");
});
