// A worker without an agent: it runs the image on the host, so that the supervisor is tested alone.

import { createHost } from "../../../hosts/node/host.js";
import type { Agent } from "../../../src/index.js";
import { IN_USE } from "../../../tools/exit-codes.js";
import { loadImage } from "../../../tools/run/image.js";
import type { FromWorker, ToWorker } from "../../../tools/run/messages.js";

const send = (message: FromWorker): void => void process.send?.(message);
const exit = (code: number): void => void process.send?.({ kind: "heartbeat" }, () => process.exit(code));

process.on("disconnect", () => process.exit(0));
process.on("message", async (message: ToWorker) => {
  if (message.kind === "stop") return exit(0);
  const { config, path, slot, state, lastRun } = message;
  const host = createHost({
    stateDir: config.stateDir,
    log: () => {},
    restart: () => exit(75),
    lost: () => exit(IN_USE),
  });
  const image = await loadImage(path);
  const { pid } = process;
  send({
    kind: "event",
    event: { event: "started", ...image.firmware, slot, state, pid, ...lastRun },
  });
  image.default({} as Agent, { ...host, settings: { intervalMs: config.intervalMs } });
});
