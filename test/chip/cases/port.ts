import { createSocket } from "node:dgram";
import { rmSync } from "node:fs";
import { Listeners } from "../../hosts/port/node-peers.js";
import { PROMISES, SOCKET_PROMISES } from "../../hosts/port/promises.js";
import { GuestLine } from "../../hosts/simulator/guest-line.js";
import { texts } from "../../xs/guest/texts.js";
import { ONLINE_MS } from "../bench.js";
import { type Case, check, type Figures } from "../case.js";
import { CHIP, keptAt } from "../chip.js";
import { HOST_ADDRESS } from "../emulator.js";
import { authority, Board, imageOf, PORT, type Settings } from "../rig.js";

export const CONTROL = PORT + 2;
/** Texts that are asked for at once. */
const AT_ONCE = 50;
const NTP = { port: 123, since1900: 2_208_988_800, packet: 48 };

/**
 * What a chip's memory holds: the cases keep the bytes of both ways several times over, and a
 * connection's peer speaks through the program as well.
 */
const LIMITS = { bytes: 8000, sockets: 3 };

/** The host's system takes megabytes before it holds back: more than a chip has to send. */
const TOO_MUCH = "socket: with a peer that does not read, write takes less, and the rest once it reads again";

/**
 * The board itself, which has no time server: the time server of a case beside this one must not
 * answer.
 */
const NO_TIME_SERVER = "127.0.0.1";

const settings = (sntp: string): Settings => ({
  program: "port-app",
  secure: true,
  engine: CHIP.portEngine,
  more: {
    sntp,
    control: { name: HOST_ADDRESS, port: CONTROL },
    provisioning: undefined,
    token: "nobody-asks-for-it",
  },
});

export class PortBench {
  readonly board: Board;
  readonly line: GuestLine;
  readonly listeners: Listeners;

  constructor(secure: boolean, board: Board) {
    const { cert, key } = authority();
    this.listeners = new Listeners(secure, { name: HOST_ADDRESS, secureName: HOST_ADDRESS, cert, key });
    this.line = new GuestLine(this.listeners);
    this.board = board;
  }

  async on(): Promise<void> {
    const connected = this.line.connected();
    this.board.on();
    let late: NodeJS.Timeout | undefined;
    const limit = new Promise((_, fail) => {
      const why = (): string => `no program on the chip:\n${this.board.lines.slice(-10).join("\n")}`;
      late = setTimeout(() => fail(new Error(why())), ONLINE_MS);
    });
    await Promise.race([connected, limit]);
    clearTimeout(late);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.board.off();
    await this.listeners.close();
    this.line.close();
  }
}

/** The program on a new board, that listens to its test. `more`: words for the emulator. */
export async function openGuest(
  name: string,
  control: number,
  more: readonly string[] = [],
): Promise<PortBench> {
  const flash = keptAt("flash", `${name}.bin`);
  rmSync(flash, { force: true });
  const bench = new PortBench(true, new Board(flash, more));
  bench.board.write(await imageOf(settings(NO_TIME_SERVER)));
  await bench.line.listen(control);
  await bench.on();
  return bench;
}

/** A time server at the port that the SDK asks: only who may open ports below 1024 has one. */
function timeServer(): Promise<(() => void) | undefined> {
  const socket = createSocket("udp4");
  socket.on("message", (asked, { port, address }) => {
    const answer = Buffer.alloc(NTP.packet);
    answer[0] = 0x24;
    answer[1] = 1;
    asked.copy(answer, 24, 40, 48);
    for (const at of [32, 40]) answer.writeUInt32BE(Math.floor(Date.now() / 1000) + NTP.since1900, at);
    socket.send(answer, port, address);
  });
  return new Promise((resolve) => {
    socket.on("error", () => resolve(undefined));
    socket.bind(NTP.port, "127.0.0.1", () => resolve(() => socket.close()));
  });
}

async function promises(secure: boolean, flash: string, say: (line: string) => void): Promise<Figures> {
  await using bench = new PortBench(secure, new Board(flash));
  bench.board.write(await imageOf(settings(secure ? NO_TIME_SERVER : HOST_ADDRESS)));
  const left = [TOO_MUCH];
  const broken: string[] = [];
  let kept = 0;
  await bench.line.listen(CONTROL);
  await bench.on();
  for (const { title, needs } of secure ? SOCKET_PROMISES : PROMISES) {
    if (needs === "restart" || left.includes(title)) continue;
    const error = await bench.line.call("promise", title, secure, LIMITS).then(() => undefined, String);
    say(`${error === undefined ? "kept" : "BROKEN"}  ${title}${error === undefined ? "" : `\n${error}`}`);
    if (error === undefined) kept++;
    else broken.push(`${title}: ${error}`);
  }
  check(broken.length === 0, broken.join("\n"));
  return { kept, ...(!secure && (await andTheRest(bench))) };
}

/** Texts, the time of day, and what a value is after the power was away. */
async function andTheRest(bench: PortBench): Promise<Figures> {
  const { line, board } = bench;
  const here = texts();
  const there: string[] = [];
  for (let at = 0; at < here.length; at += AT_ONCE)
    there.push(...((await line.call("texts", at, at + AT_ONCE)) as string[]));
  const differ = here.filter((text, i) => text !== there[i]);
  check(differ.length === 0, `texts come out otherwise: ${differ.slice(0, 3).join(" | ")}`);
  check((await line.call("set", "outlives", "the power")) === true, "the value was not taken");
  await board.off();
  const close = await timeServer();
  await bench.on();
  const value = await line.call("get", "outlives");
  check(value === "the power", `the value after a power loss is "${value}"`);
  if (!close) return { texts: here.length, sntp: `skipped: UDP port ${NTP.port} can't be had` };
  await board.line(/Wi-Fi: online/, ONLINE_MS);
  await new Promise((go) => setTimeout(go, 3000));
  const wall = (await line.call("wall")) as number;
  close();
  check(Math.abs(wall - Date.now()) < 3000, `the time server was asked, but the time is ${wall}`);
  return { texts: here.length, sntp: "the time is the time server's" };
}

const port = (secure: boolean): Case => ({
  name: secure ? "port-tls" : "port",
  title: `the chip's host keeps the promises of the port${secure ? " over TLS" : ""}`,
  async run({ say }) {
    const flash = keptAt("flash", secure ? "port-tls.bin" : "port.bin");
    rmSync(flash, { force: true });
    return await promises(secure, flash, say);
  },
});

export const PORT_PROMISES = port(false);
export const PORT_PROMISES_TLS = port(true);
