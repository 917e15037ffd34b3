// A worker without an agent: it runs the image on the host, so that the supervisor is tested alone.

import { createHost } from "../../../hosts/node/host.js";
import type { Agent } from "../../../src/index.js";
import { SupervisorChannel } from "../../../tools/run/channel.js";
import { loadImage } from "../../../tools/run/image.js";
import type { Ending, ToWorker } from "../../../tools/run/messages.js";

const channel = new SupervisorChannel(receive, () => end("stopped"));

function end(how: Ending): void {
  channel.send({ kind: "end", how, reason: "" });
  channel.exit(500);
}

async function receive(message: ToWorker): Promise<void> {
  if (message.kind === "stop") return end("stopped");
  const { config, path, slot, state, lastRun } = message;
  const host = createHost({
    stateDir: config.stateDir,
    log: () => {},
    restart: () => end("restart"),
  });
  const image = await loadImage(path);
  const { pid } = process;
  channel.send({
    kind: "event",
    event: { event: "started", ...image.firmware, slot, state, pid, ...lastRun },
  });
  image.default({} as Agent, { ...host, settings: { intervalMs: config.intervalMs } });
  channel.send({ kind: "ready" });
  setInterval(() => channel.send({ kind: "heartbeat", lives: true }), 50).unref();
}
