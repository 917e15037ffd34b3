// The agent with the sample application, as its supervisor configured it.
import files from "embedded:storage/files";
import { Agent, type AgentEvents } from "mote";
import setUp from "mote-app";
import { createHost, readSettings } from "mote-simulator";

const FLUSH_MS = 2000;

/** What the supervisor is told, a line each, by the names that `mote run --log json` has for them. */
const TOLD: Readonly<Partial<Record<keyof AgentEvents, string>>> = {
  provisioned: "provisioned",
  online: "online",
  offline: "offline",
  delivered: "telemetry.delivered",
  drop: "telemetry.dropped",
  attributes: "attributes.changed",
  rpc: "rpc",
  firmware: "firmware.state",
  refused: "refused",
  restart: "restart",
};

function follow(agent: Agent): void {
  for (const [name, told] of Object.entries(TOLD)) {
    agent.on(name as keyof AgentEvents, (detail) => {
      const event = "stage" in detail ? `${told}.${detail.stage}` : told;
      trace(`@event ${JSON.stringify({ ...detail, event })}\n`);
    });
  }
}

/** Looks on: called before the application sets itself up. */
export type Show = (agent: Agent, image: { title: string; version: string }) => void;

function start(show: Show | undefined): void {
  const { agent: options, intervalMs, authorities, control } = readSettings(files);
  const host = createHost(files, { authorities: authorities.map((text) => Uint8Array.fromBase64(text)) });
  const agent = new Agent(host, options);
  follow(agent);
  show?.(agent, { title: options.firmware?.title ?? "", version: options.firmware?.version ?? "" });
  setUp(agent, {
    ...host,
    settings: { intervalMs, version: options.firmware?.version },
    health: { reset: "start" },
  });
  const line = host.open("127.0.0.1", control, false, (what) => {
    if (what !== "readable") return;
    line.close();
    void end(agent);
  });
  agent.start();
}

async function end(agent: Agent): Promise<void> {
  await agent.flush(FLUSH_MS);
  await agent.stop();
  trace("@exit 0\n");
}

/** What fails ends the simulator with status 1. */
export function run(show?: Show): void {
  try {
    start(show);
  } catch (error) {
    trace(`${error instanceof Error ? `${error.message}\n${error.stack}` : "unknown"}\n@exit 1\n`);
  }
}
