// Commissioning on a board: access point, page, name server and Improv for extras/commissioning.

import { nameOf, readAuthorities } from "../../../extras/commissioning/authorities.js";
import { fromBase64 } from "../../../extras/commissioning/base64.js";
import { Commissioning } from "../../../extras/commissioning/commissioning.js";
import { answerDns } from "../../../extras/commissioning/dns.js";
import { Improv } from "../../../extras/commissioning/improv.js";
import { PageServer } from "../../../extras/commissioning/page-server.js";
import { checkPlatform } from "../../../extras/commissioning/platform-check.js";
import { makeProof, type PageContext } from "../../../extras/commissioning/respond.js";
import { storeSettings } from "../../../extras/commissioning/stored-settings.js";
import { type Before, type Finding, SECRETS, type Values } from "../../../extras/commissioning/values.js";
import { pinAll } from "../../../src/board-module.js";
import type { Host } from "../../../src/port.js";
import type { BoardHardware } from "../board-hardware.js";
import type { BoardHost } from "../host.js";
import { aboutBoard } from "./about-board.js";
import { type Cable, openCables } from "./cables.js";
import type { SdkModules, WifiFunctions } from "./sdk-modules.js";
import { WifiJoiner } from "./wifi-joiner.js";

export interface CommissionOptions {
  /** The stored or built-in settings. */
  readonly before: Before;
  /** Why the device cannot start with them. */
  readonly wrong?: string | undefined;
  readonly deviceName?: string | undefined;
  /** Password of the access point, unless the device has its own. */
  readonly password?: string | undefined;
  /** Somebody is at the board. Otherwise only an access point with a password opens. */
  readonly isByHand: boolean;
  /** False: none. */
  readonly serial?: false | { readonly receive: number; readonly transmit: number } | undefined;
  /** Called when there is a network during a check. */
  readonly joined: () => void;
  /** See TimeOfDay. */
  readonly watch: (open: Host["open"]) => Host["open"];
  /** Called once, when everything is closed. */
  readonly over: (done: boolean) => void;
}

/** The access point of ESP-IDF. */
const ADDRESS = [192, 168, 4, 1] as const;
const OWN = ADDRESS.join(".");
const VISITORS = "192.168.4.";
const HTTP = 80;
const DNS = 53;
const NO_BYTES = new Uint8Array(0);
/**
 * Interval between attempts to open access point and page, and the number of failures
 * before a log message.
 */
const RETRY_OPEN_MS = 250;
const WARN_AFTER = 20;

/**
 * The access point. Some home networks have its address too: lwIP would send the packets for their
 * gateway and name server back to the board, and their devices would look like visitors. So it is
 * closed while the platform is asked through such a network.
 */
interface Access {
  isPaused: boolean;
  /** Throws if the driver refuses. */
  open(): void;
  /** Call when a network was joined. */
  pause(): void;
  /** Leaves that network. */
  resume(): void;
}

/** Opens commissioning for 10 minutes. The radio is on when this returns. */
export const openCommissioning = (
  modules: SdkModules,
  machine: BoardHardware,
  host: BoardHost,
  options: CommissionOptions,
): Commissioning => {
  const { clock } = machine;
  const native = machine.idf as unknown as WifiFunctions;
  const name = `mote-${host.hardwareId}`;
  const joiner = new WifiJoiner(machine.makeRadio, native, clock);
  const closing: (() => void)[] = [() => joiner.close(), () => void native.mote_ap_close()];
  const password = options.before.label ?? options.password ?? "";
  const isAccessOpen = options.isByHand || password !== "";
  const access: Access = {
    isPaused: false,
    open() {
      if (native.mote_ap_open(name, password) !== 0) throw new Error("cannot open the access point");
    },
    pause() {
      if (!isAccessOpen || native.mote_ap_overlaps() === 0) return;
      this.isPaused = true;
      native.mote_ap_close();
    },
    resume() {
      if (!this.isPaused) return;
      joiner.leave();
      this.isPaused = false;
      quietly(host, () => this.open());
    },
  };
  const commissioning = new Commissioning({
    clock,
    before: options.before,
    wrong: options.wrong,
    check: (values, isSame, report) => check(machine, host, joiner, access, options, values, isSame, report),
    storeSettings: (values, isSame) => storeSettings(host, values, isSame),
    closed: (done) => {
      for (const close of closing) quietly(host, close);
      options.over(done);
    },
  });
  const context: PageContext = { commissioning, name, own: OWN, proof: makeProof(host) };
  const server = new PageServer(context, host);
  closing.unshift(() => server.close());
  host.redactor.pin(password);
  pinAll(options.before, host.redactor);
  const steps = [
    () => access.open(),
    () => closing.unshift(listen(modules, machine, server, access)),
    () => closing.unshift(answerNames(modules)),
  ];
  if (isAccessOpen) keepTrying(host, closing, steps);
  const cables = { serial: options.serial, isRunning: false };
  const opened = openCables(modules, machine, host, cables, (cable) =>
    improvOn(machine, host, commissioning, joiner, options, cable),
  );
  for (const close of opened.reverse()) closing.unshift(close);
  if (isAccessOpen) host.log("info", `commissioning: join the Wi-Fi ${name}, then http://${OWN}/`);
  else
    host.log("info", `commissioning: use a cable, or switch the board off and on to open the Wi-Fi ${name}`);
  commissioning.open();
  return commissioning;
};

/**
 * Repeats each step until it succeeds: the SDK cannot listen before another task has started the
 * access point.
 */
const keepTrying = (host: BoardHost, closing: (() => void)[], steps: readonly (() => void)[]): void => {
  let left = steps;
  let tries = 0;
  let cancel = (): void => {};
  closing.push(() => cancel());
  const round = (): void => {
    let problem = "";
    left = left.filter((step) => {
      try {
        step();
        return false;
      } catch (error) {
        problem = error instanceof Error ? error.message : "unknown";
        return true;
      }
    });
    if (++tries === WARN_AFTER && left.length > 0) host.log("warn", `commissioning: ${problem}`);
    if (left.length > 0) cancel = host.clock.timer(RETRY_OPEN_MS, round);
  };
  round();
};

/** The page. Not served on the joined network, whose owner need not own the device. */
const listen = (
  modules: SdkModules,
  machine: BoardHardware,
  server: PageServer,
  access: Access,
): (() => void) => {
  return modules.listen(
    HTTP,
    (address, visitor) =>
      !access.isPaused &&
      address.startsWith(VISITORS) &&
      server.accept((event) => machine.adoptSocket(visitor, event)),
  );
};

/** Every name resolves to the page, so that a phone opens it by itself. */
const answerNames = (modules: SdkModules): (() => void) => {
  return modules.datagrams(DNS, (packet, answer) => {
    const bytes = answerDns(packet, ADDRESS);
    if (bytes) answer(bytes);
  });
};

/** The reader of a cable's bytes. */
const improvOn = (
  machine: BoardHardware,
  host: BoardHost,
  commissioning: Commissioning,
  joiner: WifiJoiner,
  options: CommissionOptions,
  cable: Cable,
): ((bytes: Uint8Array) => void) => {
  const entry = commissioning.entry(() => improv.changed());
  const improv = new Improv({
    ...aboutBoard(machine, host, options.deviceName, () => {
      const { url, has } = entry.view;
      return { url, token: has.token ? "given" : undefined };
    }),
    write: (bytes) => cable.write(bytes),
    entry,
    scan: (found, done) => joiner.scan(found, done),
  });
  return improv.reader(host.clock);
};

async function check(
  machine: BoardHardware,
  host: BoardHost,
  joiner: WifiJoiner,
  access: Access,
  options: CommissionOptions,
  values: Values,
  isSame: boolean,
  report: (stage: string) => void,
): Promise<Finding | undefined> {
  for (const field of SECRETS) host.redactor.conceal(values[field] ?? "");
  report("Joining the Wi-Fi");
  const finding = await joiner.join({ ssid: values.ssid ?? "", password: values.password });
  if (finding) return finding;
  access.pause();
  options.joined();
  report("Asking the platform");
  const trusted = trusting(machine, host, values.ca);
  const checked = { ...trusted, open: options.watch(trusted.open) };
  try {
    return await checkPlatform(checked, values, isSame, options.deviceName);
  } finally {
    access.resume();
  }
}

/**
 * `host` that trusts the owner's CAs too. They do not replace `config.ca`, so that an update can
 * bring the next CA. They do replace the SDK's public CAs.
 */
export const trusting = (machine: BoardHardware, host: BoardHost, ca: string | undefined): BoardHost => {
  const read = ca === undefined ? [] : readAuthorities(ca);
  const given = typeof read === "string" ? [] : read.map((one) => fromBase64(one) ?? NO_BYTES);
  const open = given.length > 0 ? machine.trusting(given.concat(machine.authorities ?? [])) : host.open;
  const authorities = nameOf(host, ca);
  return { ...host, open, ...(authorities !== undefined && { authorities }) };
};

const quietly = (host: BoardHost, step: () => void): void => {
  try {
    step();
  } catch (error) {
    host.log("warn", `commissioning: ${error instanceof Error ? error.message : "unknown"}`);
  }
};
