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

/** Emits each event of the agent as one of `--log json`. */
export function follow(agent: Agent, emit: (event: Event) => void): void {
  agent.on("provisioned", ({ deviceName, adopted }) => emit({ event: "provisioned", deviceName, adopted }));
  agent.on("online", () => emit({ event: "online" }));
  agent.on("offline", ({ reason }) => emit({ event: "offline", reason }));
  agent.on("delivered", ({ points }) => emit({ event: "telemetry.delivered", points }));
  agent.on("delivery", (detail) => emit({ event: "telemetry.delivery", ...detail }));
  agent.on("drop", ({ points, reason }) => emit({ event: "telemetry.dropped", points, reason }));
  agent.on("attributes", ({ keys, deleted }) => emit({ event: "attributes.changed", keys, deleted }));
  agent.on("rpc", ({ stage, ...rpc }) => emit({ event: `rpc.${stage}`, ...rpc }));
  agent.on("firmware", (detail) => emit({ event: "firmware.state", ...detail }));
  agent.on("refused", ({ what, reason }) => emit({ event: "refused", what, reason }));
  agent.on("restart", ({ reason }) => emit({ event: "restart", reason }));
}
