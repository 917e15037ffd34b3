// The simulator's program: the agent with the sample application, as its supervisor configured it.
import files from "embedded:storage/files";
import { Agent, type AgentEvents } from "mote";
import setUp from "mote-app";
import { createHost, readSettings } from "mote-simulator";

const FLUSH_MS = 2000;

/** Told to the supervisor, one line each. */
const EVENTS = [
  "provisioned",
  "online",
  "offline",
  "delivered",
  "drop",
  "attributes",
  "rpc",
  "firmware",
  "refused",
  "restart",
] as const satisfies readonly (keyof AgentEvents)[];

function start(): void {
  const { agent: options, intervalMs, authorities, control } = readSettings(files);
  const host = createHost(files, { authorities: authorities.map((text) => Uint8Array.fromBase64(text)) });
  const agent = new Agent(host, options);
  for (const event of EVENTS) {
    agent.on(event, (detail) => trace(`@event ${JSON.stringify({ ...detail, event })}\n`));
  }
  setUp(agent, { ...host, settings: { intervalMs, version: options.firmware?.version } });
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

try {
  start();
} catch (error) {
  trace(`${error instanceof Error ? `${error.message}\n${error.stack}` : "unknown"}\n@exit 1\n`);
}
