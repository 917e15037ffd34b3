// A weather station as an owner would write it: readings in a ring, a text for a display, eleven RPC handlers, fifteen shared attributes, four timers.
import config from "mc/config";
import { start } from "mote/board";
import { commission } from "mote/commission";
import nativeFunctions from "mote/native-functions";
import Timer from "timer";

const SETTINGS = 15;
const RING = 300;
const LINES = 8;

class Station {
  constructor(agent, host) {
    this.agent = agent;
    this.host = host;
    this.ring = [];
    this.most = RING;
    this.settings = {};
    this.display = [];
    this.kept = [];
    this.relays = [false, false, false, false];
    this.offset = 0;
    this.n = 0;
    this.alarms = 0;
  }

  read() {
    const t = 20 + (this.n % 50) / 10 + this.offset;
    const reading = { t, h: 40 + (this.n % 30), p: 1000 + (this.n % 13), n: this.n };
    this.n++;
    this.ring.push(reading);
    while (this.ring.length > this.most) this.ring.shift();
    this.agent.telemetry.record({ temperature: reading.t, humidity: reading.h });
  }

  show() {
    const last = this.ring[this.ring.length - 1];
    if (last === undefined) return;
    this.display.push(`${last.n}: ${last.t.toFixed(1)} C, ${last.h} %, ${last.p} hPa`);
    if (this.display.length > LINES) this.display.shift();
  }

  statistics() {
    let [least, most, sum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
    for (const { t } of this.ring) {
      least = Math.min(least, t);
      most = Math.max(most, t);
      sum += t;
    }
    return { n: this.ring.length, least, most, mean: sum / this.ring.length };
  }

  /** More objects of four numbers, as an owner's table would have them. */
  keep(n) {
    for (let i = 0; i < n; i++) this.kept.push({ a: i, b: i + 0.5, c: -i, d: 2 * i });
    return { kept: this.kept.length };
  }

  drop(n) {
    this.kept.length = Math.max(0, this.kept.length - n);
    return { kept: this.kept.length };
  }
}

function application(agent, host) {
  const station = new Station(agent, host);
  const native = nativeFunctions();
  const on = (name, handler) => agent.rpc.handle(name, handler);
  on("getStatus", () => ({ n: station.n, ring: station.ring.length, relays: station.relays }));
  on("echo", (params) => params);
  on("keep", ({ n }) => station.keep(n));
  on("drop", ({ n }) => station.drop(n));
  on("ring", ({ most }) => {
    station.most = most;
    return { most };
  });
  on("setRelay", ({ relay, on }) => {
    station.relays[relay & 3] = on === true;
    return station.relays;
  });
  on("calibrate", ({ offset }) => {
    station.offset = offset;
    return { offset };
  });
  on("statistics", () => station.statistics());
  on("display", () => station.display);
  on("settings", () =>
    Object.keys(station.settings).map((key) => JSON.stringify(station.settings[key]).length),
  );
  on("memory", () => ({
    ...host.health.memory(),
    free: host.health.memory().systemFree,
    leastFree: host.health.memory().systemLeast,
    largest: native.mote_memory(0),
    stackLeft: native.mote_memory(1),
    engineFree: native.mote_memory(6),
    chunksFree: native.mote_memory(7),
  }));
  for (let i = 0; i < SETTINGS; i++)
    agent.attributes.subscribe(`setting${i}`, (value) => {
      station.settings[i] = value;
    });
  Timer.repeat(() => station.read(), 1000);
  Timer.repeat(() => station.show(), 2000);
  Timer.repeat(() => agent.attributes.publish({ alarms: station.alarms }), 30_000);
  Timer.repeat(() => {
    if (station.statistics().most > 30) station.alarms++;
  }, 5000);
  if (config.kept) station.keep(config.kept);
  host.log("info", `station: crash ${host.lastRun.crash}`);
}

/** Says every ten seconds how much of the engine's memory is used; `grow` adds a part each half minute. */
function count(grow = []) {
  const native = nativeFunctions();
  let n = 0;
  Timer.repeat(() => {
    trace(`census: ${Math.floor(n / 3)} ${native.mote_memory(3) - native.mote_memory(6)}\n`);
    if (++n % 3 === 0) grow.shift()?.();
  }, 10_000);
}

const counted = (agent) =>
  count([
    () => agent.rpc.handle("getStatus", () => 1),
    () => agent.attributes.subscribe("setting", () => {}),
    () => Timer.repeat(() => agent.telemetry.record({ temperature: 20.5, humidity: 40 }), 1000),
  ]);

export default function main() {
  const { census } = config;
  if (census === "engine") count();
  else if (census) start({ application: counted, extras: census === "setup" ? [commission] : [] });
  else start({ application, extras: [commission] });
}
