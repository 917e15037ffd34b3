// Many agents in one engine, and a machine and a platform for them that cost next to nothing, and the same for each: time passes in ticks, sockets answer at
// the next. So what is metered is the agents.
import { none } from "../../hosts/none.js";
import { Agent } from "../../src/index.js";
import type { Host, Socket, SocketEvent } from "../../src/port.js";
import { writeStored } from "../../src/store.js";

const TICK_MS = 10;
const POINT_MS = 1000;
/** The shortest polls there are: one each 3 s, as the next opens 2 s before. So a few seconds show all that an agent does again and again. */
const POLL = { to: "false/platform.test", ceilingMs: 5000, restMs: 52 * 3_600_000 };
const STARTS_MS = 3000;
/** Promise jobs in a row, at the least, that something done may set off before the next is done. */
const TURNS = 24;
const WALL = Date.UTC(2026, 0, 1);
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const TAKEN = encoder.encode("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n");
const WITH_MARKER = '{"client":{"moteVersion":"1"}}';
const VALUES = encoder.encode(`HTTP/1.1 200 \r\nContent-Length: ${WITH_MARKER.length}\r\n\r\n${WITH_MARKER}`);
const ENDED = encoder.encode("HTTP/1.1 408 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
const LETTER_G = 0x47;

type Due = (() => void) | undefined;

/** What is due, by tick. A tick costs the same however much waits. */
const ticks = new Map<number, Due[]>();
let tick = 0;

function timer(ms: number, due: () => void): () => void {
  const at = tick + Math.max(1, Math.ceil(ms / TICK_MS));
  const list = ticks.get(at);
  const index = list?.length ?? 0;
  if (list) list.push(due);
  else ticks.set(at, [due]);
  return () => {
    const waiting = ticks.get(at);
    if (waiting) waiting[index] = undefined;
  };
}

/** A platform for one connection: polls end when they ask to, all else is answered at the next tick. */
function open(_name: string, _port: number, _secure: boolean, event: (what: SocketEvent) => void): Socket {
  let answer: Uint8Array | undefined;
  let end: (() => void) | undefined;
  const later = (ms: number, bytes: Uint8Array) => {
    end = timer(ms, () => {
      answer = bytes;
      event("readable");
    });
  };
  timer(0, () => event("opened"));
  return {
    write(bytes) {
      if (bytes[0] !== LETTER_G) later(0, TAKEN);
      else {
        const [, timeout] = decoder.decode(bytes.subarray(0, 60)).split("timeout=");
        if (timeout === undefined) later(0, VALUES);
        else later(Number.parseInt(timeout, 10), ENDED);
      }
      return bytes.length;
    },
    read(into) {
      if (!answer) return 0;
      const { length } = answer;
      into.set(answer);
      answer = undefined;
      return length;
    },
    close: () => end?.(),
  };
}

const counts = { recorded: 0, delivered: 0, online: 0, said: "" };

function hostOf(number: number): Host {
  let state = number;
  const values = new Map<string, Uint8Array>();
  const host: Host = {
    ...none,
    clock: { now: () => tick * TICK_MS, wall: () => WALL + tick * TICK_MS, timer },
    store: {
      get: (key) => values.get(key),
      set: (key, value) => values.set(key, value.slice()) === values,
      delete: (key) => values.delete(key) || true,
    },
    open,
    encode: (text) => encoder.encode(text),
    decode: (bytes) => decoder.decode(bytes),
    random(into) {
      for (let i = 0; i < into.length; i++) {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        into[i] = state >>> 16;
      }
    },
    hardwareId: "bench",
    log: (level, line) => {
      counts.said ||= `${level}: ${line}`;
    },
  };
  writeStored(host, "poll", POLL);
  return host;
}

/** One more agent, which records a point a second from a moment of its own on. */
function add(number: number): void {
  const telemetry = { bufferBytes: 2048, batchBytes: 1024 };
  const token = `T${10_000 + number}`;
  const agent = new Agent(hostOf(number), { baseUrl: "http://platform.test", token, telemetry });
  agent.on("delivered", ({ points }) => {
    counts.delivered += points;
  });
  agent.on("online", () => {
    counts.online++;
  });
  const record = (): void => {
    timer(POINT_MS, record);
    agent.telemetry.record({ temperature: 20.5, humidity: 40, count: number });
    counts.recorded++;
  };
  timer((number * 7919) % STARTS_MS, () => {
    agent.start();
    record();
  });
}

/** Lets `ms` pass. What one event sets off is done before the next, as on a machine. */
async function pass(ms: number): Promise<void> {
  const end = tick + ms / TICK_MS;
  while (tick < end) {
    tick++;
    const due = ticks.get(tick);
    ticks.delete(tick);
    for (const run of due ?? []) {
      if (!run) continue;
      run();
      for (let turn = 0; turn < TURNS; turn++) await undefined;
    }
  }
}

let number = 0;

/** `{add}` so many agents, or let `{pass}` so many ms; `{}` asks for the counts. */
function handleCommand(buffer: ArrayBuffer): ArrayBuffer | undefined {
  const asked = JSON.parse(decoder.decode(new Uint8Array(buffer))) as { add?: number; pass?: number };
  for (let i = 0; i < (asked.add ?? 0); i++) add(number++);
  if (asked.pass) void pass(asked.pass);
  return asked.pass || asked.add ? undefined : (encoder.encode(JSON.stringify(counts)).buffer as ArrayBuffer);
}

Object.assign(globalThis, { handleCommand });
