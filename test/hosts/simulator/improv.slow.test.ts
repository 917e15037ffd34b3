// The official client of Improv against a board's own program on XS, over a serial line that is a connection on this machine.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecutionContext } from "ava";
import { findSdk } from "../../../tools/moddable/sdk.js";
import { SimulatorRun } from "../../../tools/moddable/simulator/simulator.js";
import { Operator } from "../../../tools/operator/operator.js";
import { startPlatform } from "../../../tools/platform/server.js";
import { TENANT } from "../../../tools/tour/hints.js";
import { officialClient } from "../../extras/commissioning/official-client.js";
import { expectedOf, visit } from "../../extras/commissioning/official-visit.js";
import { until } from "./bench.js";
import { bundleForXs } from "./bundle.js";
import { inSimulator, programOf, screen } from "./rig.js";

const HOME = ["home", "correct horse"] as const;
const NAME = "mote-240ac4000102";

async function boardProgram(): Promise<string> {
  await bundleForXs("test/hosts/simulator/cable/main.ts", "dist/test/hosts/simulator/cable-main.js");
  return programOf("test/hosts/simulator/cable");
}

/** The computer's end of the cable: it stays while the board restarts, and what is sent to a board that is off is lost. */
class Cable {
  received: (bytes: Uint8Array) => void = () => {};
  connections = 0;
  #socket: Socket | undefined;
  readonly #server = createServer((socket) => {
    this.connections++;
    this.#socket = socket;
    socket.on("error", () => {});
    socket.on("data", (bytes) => this.received(new Uint8Array(bytes)));
  });

  async listen(): Promise<number> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return (this.#server.address() as { port: number }).port;
  }

  send(bytes: Uint8Array): void {
    this.#socket?.write(bytes);
  }

  close(): void {
    this.#socket?.destroy();
    this.#server.close();
  }
}

/** Runs the program, and again as often as it asks for it. */
async function run(t: ExecutionContext, directory: string, failed: (why: string) => void): Promise<void> {
  const [program, display, sdk] = [await boardProgram(), await screen(), findSdk()];
  let current: SimulatorRun | undefined;
  let isOver = false;
  const start = async (): Promise<void> => {
    current = await SimulatorRun.start({ sdk, program, directory, display, line: () => {} });
    void current.ended.then((end) => {
      if (end.kind === "restart" && !isOver) void start();
      else if (!isOver) failed(`the simulator ended: ${JSON.stringify(end)}`);
    });
  };
  t.teardown(async () => {
    isOver = true;
    await current?.kill();
  });
  await start();
}

inSimulator(
  "the official client of Improv finds a new board, gives it a Wi-Fi, and finds it again once it runs",
  async (t) => {
    const platform = await startPlatform({ port: 0 });
    const directory = mkdtempSync(join(tmpdir(), "mote-simulator-"));
    const cable = new Cable();
    t.teardown(async () => {
      cable.close();
      await platform.close();
      rmSync(directory, { recursive: true, force: true });
    });
    const config = {
      baseUrl: platform.url,
      provisioning: platform.profile,
      firmware: { title: "lamp", version: "1.0.0", allowHttp: true },
      intervalMs: 1000,
    };
    const setup = { cable: await cable.listen(), wifi: HOME, config };
    writeFileSync(join(directory, "board.json"), JSON.stringify(setup));
    const operator = new Operator({ url: platform.url });
    await operator.login(TENANT.username, TENANT.password);

    const all: Buffer[] = [];
    const { client, received, damaged } = await officialClient((bytes) => cable.send(bytes));
    cable.received = (bytes) => {
      all.push(Buffer.from(bytes));
      received(bytes);
    };
    await run(t, directory, (why) => t.fail(why));
    await until("the board", 30_000, () => cable.connections || undefined);
    const board = {
      client,
      about: `lamp 1.0.0 on ESP32-C3, ${NAME}`,
      place: `${platform.url}/entities/devices?textSearch=${NAME}`,
      wifi: HOME,
      air: { near: "guests -71 false; home -48 true", wrong: ["home", "wrong horse"] as const },
      ...{ bootMs: 10_000, checkMs: 20_000 },
      running: async () => {
        await until("a restart", 30_000, () => cable.connections > 1 || undefined);
        const { id } = (await until("the device", 30_000, async () => operator.devices.byName(NAME))).id;
        await until("its point", 30_000, async () => (await operator.timeSeries.latest(id, ["n"])).n);
      },
    };
    const { lines, slowestMs } = await visit(board);
    t.deepEqual(lines, expectedOf(board));
    t.deepEqual(damaged, []);
    t.true(slowestMs < 1000, `${slowestMs} ms`);
    const sent = Buffer.concat(all).toString("latin1");
    t.regex(sent, /info: commissioning: join the Wi-Fi/);
    for (const secret of [HOME[1], platform.profile.secret]) t.false(sent.includes(secret));
  },
);
