// From the configuration of `mote run` to an agent, and from its events to lines.
import type { Agent, AgentOptions } from "../../src/index.js";
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

/**
 * Emits each event of the agent as one of `--log json`. A token from before counts as provisioned
 * as soon as the agent has it: that is emitted when the platform has accepted it, and not at all
 * where it refuses it.
 */
export function follow(agent: Agent, emit: (event: Event) => void): void {
  let adopted: Event | undefined;
  agent.on("provisioned", (detail) => {
    const event = { event: "provisioned", deviceName: detail.deviceName, adopted: detail.adopted };
    if (detail.adopted && agent.state !== "online") adopted = event;
    else emit(event);
  });
  agent.on("refused", () => {
    adopted = undefined;
  });
  agent.on("online", () => {
    if (adopted) emit(adopted);
    adopted = undefined;
    emit({ event: "online" });
  });
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
