// From the configuration of `mote run` to an agent, and from its events to lines.
import type { Agent, AgentOptions } from "../../../src/index.js";
import type { Image } from "./image.js";
import type { Event, WorkerConfig } from "./messages.js";

export function agentOptions(config: WorkerConfig, firmware: Image["firmware"] | undefined): AgentOptions {
  return {
    baseUrl: config.url,
    token: config.token,
    provisioning: config.provisioning,
    connections: config.connections,
    firmware: firmware && {
      ...firmware,
      allowHttp: config.allowHttpFirmware,
      urlHosts: [...(firmware.urlHosts ?? []), ...config.firmwareHosts],
    },
    ...(config.cycle !== undefined && {
      cycle: { everyMs: config.intervalMs, connectEvery: config.cycle },
    }),
    telemetry: { timestamps: config.timestamps, durable: config.durable },
  };
}

/** Tells each event of the agent as one of `--log json`. */
export function follow(agent: Agent, tell: (event: Event) => void): void {
  agent.on("provisioned", ({ deviceName, adopted }) => tell({ event: "provisioned", deviceName, adopted }));
  agent.on("online", () => tell({ event: "online" }));
  agent.on("offline", ({ reason }) => tell({ event: "offline", reason }));
  agent.on("delivered", ({ points }) => tell({ event: "telemetry.delivered", points }));
  agent.on("delivery", (detail) => tell({ event: "telemetry.delivery", ...detail }));
  agent.on("drop", ({ points, reason }) => tell({ event: "telemetry.dropped", points, reason }));
  agent.on("attributes", ({ keys, deleted }) => tell({ event: "attributes.changed", keys, deleted }));
  agent.on("rpc", ({ stage, ...rpc }) => tell({ event: `rpc.${stage}`, ...rpc }));
  agent.on("firmware", (detail) => tell({ event: "firmware.state", ...detail }));
  agent.on("refused", ({ what, reason }) => tell({ event: "refused", what, reason }));
  agent.on("restart", ({ reason }) => tell({ event: "restart", reason }));
}
