// `mote/commission` in the simulator: no Wi-Fi, and the page only if `config.commission.port` is
// set, for this machine only.
import { Agent } from "mote";
import { nameOf, readAuthorities } from "../../extras/commissioning/authorities.js";
import { fromBase64 } from "../../extras/commissioning/base64.js";
import {
  type Config,
  isIncomplete,
  membersOf,
  valuesOf,
  withStoredSettings,
} from "../../extras/commissioning/built-in-configuration.js";
import { Commissioning } from "../../extras/commissioning/commissioning.js";
import { PageServer } from "../../extras/commissioning/page-server.js";
import { checkPlatform } from "../../extras/commissioning/platform-check.js";
import { makeProof } from "../../extras/commissioning/respond.js";
import {
  finishInterrupted,
  readStoredSettings,
  storeSettings,
} from "../../extras/commissioning/stored-settings.js";
import type { Values } from "../../extras/commissioning/values.js";
import { listen } from "../moddable/listen.js";
import { TcpSocket } from "../moddable/tcp.js";
import type { SimulatorCommissioner, StartSimulatedAgent } from "./board.js";
import type { SimulatorHost } from "./host.js";

const LOOPBACK = "127.";

const ask: SimulatorCommissioner = (host, built, go) => {
  const { config, stored } = withSettings(host, built);
  if (!isIncomplete(config)) return go(trusting(host, stored.ca), config);
  const { port } = membersOf<{ port: number }>(config.commission);
  if (port === undefined) {
    host.log(
      "error",
      "base URL, or token and provisioning, are missing: config.commission.port opens a page for them",
    );
    return undefined;
  }
  open(host, built, port, go);
  return undefined;
};

/** Passed to `start` of `mote/board`. */
export const commission: { readonly commission: SimulatorCommissioner } = { commission: ask };

/** The machine has a network, so built-in Wi-Fi settings are ignored. */
const withSettings = (host: SimulatorHost, built: Config): { config: Config; stored: Values } => {
  finishInterrupted(host, () => void new Agent(host, { baseUrl: "http://none", token: "none" }));
  const { baseUrl } = built;
  const stored = readStoredSettings(host, typeof baseUrl === "string" ? baseUrl : undefined);
  return { config: { ...withStoredSettings(built, stored), wifi: false }, stored };
};

const open = (host: SimulatorHost, built: Config, port: number, go: StartSimulatedAgent): void => {
  const { config, stored } = withSettings(host, built);
  const { deviceName } = membersOf<{ deviceName: string }>(config.provisioning);
  const commissioning = new Commissioning({
    clock: host.clock,
    wifi: false,
    before: valuesOf(config, stored),
    check: (values, isSame, report) => {
      report("Asking the platform");
      return checkPlatform(trusting(host, values.ca), values, isSame, deviceName);
    },
    storeSettings: (values, isSame) => storeSettings(host, values, isSame),
    closed: (done) => {
      server.close();
      end();
      const { config: now, stored: own } = withSettings(host, built);
      // On a fresh stack, because creating an agent needs much of it.
      if (done) host.clock.timer(0, () => void go(trusting(host, own.ca), now));
      else host.log("error", "not commissioned in time");
    },
  });
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const context = {
    commissioning,
    name: `mote-${host.hardwareId}`,
    hosts,
    isPortal: false,
    proof: makeProof(host),
  };
  const server = new PageServer(context, host);
  const end = listen(
    port,
    (address, visitor) =>
      address.startsWith(LOOPBACK) && server.accept((notify) => new TcpSocket(visitor, 0, notify)),
  );
  commissioning.open();
  host.log("info", `commissioning: http://${hosts[0]}/`);
};

const trusting = (host: SimulatorHost, ca: string | undefined): SimulatorHost => {
  const read = ca === undefined ? [] : readAuthorities(ca);
  if (typeof read === "string" || read.length === 0) return host;
  const open = host.trusting(read.map((one) => fromBase64(one) ?? new Uint8Array(0)));
  const authorities = nameOf(host, ca);
  return { ...host, open, ...(authorities !== undefined && { authorities }) };
};
