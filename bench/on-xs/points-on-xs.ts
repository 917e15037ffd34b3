// Points recorded, sent and acknowledged with agent and machine in one XS engine: see guest/machine.ts.

import { bundle } from "../../test/xs/engine/bundle.js";
import { Engine } from "../../test/xs/engine/worker.js";
import { answerBytes } from "../../tools/platform/device/answer-bytes.js";
import { response } from "../../tools/platform/device/messages.js";

/** An agent with its points in memory only, or on flash as well; or the bare work: the object built, and JSON.stringify. */
export type Subject = "ram" | "durable" | "bare";

export interface Cost {
  readonly microseconds: number;
  /** Steps by the engine's meter. */
  readonly steps: number;
}

const WARM = 1000;
const BATCH = 50;
/** Of the longest command. */
const LIMIT_STEPS = 50_000_000_000;

export class PointsOnXs {
  readonly #engine: Engine;
  readonly #encoder = new TextEncoder();

  private constructor(engine: Engine) {
    this.#engine = engine;
  }

  static async start(): Promise<PointsOnXs> {
    const { whole } = answerBytes(response(200), 0);
    const answer = Buffer.from(whole).toString("latin1").split(new Date(0).toUTCString());
    const script = await bundle('import "./bench/guest/points.ts";', { ANSWER: JSON.stringify(answer) });
    const engine = new Engine({ limitSteps: LIMIT_STEPS, output: (text) => process.stderr.write(text) });
    await engine.evaluate(script);
    return new PointsOnXs(engine);
  }

  /** The cost of one point, of so many. */
  async cost(subject: Subject, points: number): Promise<Cost> {
    const began = process.hrtime.bigint();
    const { compute } = await this.#command(subject, points);
    return {
      microseconds: Number(process.hrtime.bigint() - began) / 1000 / points,
      steps: compute / points,
    };
  }

  /** The first points of an agent cost what its start does. */
  async warm(subject: Subject): Promise<void> {
    await this.cost(subject, WARM);
    if (subject === "bare") return;
    const { bytes } = await this.#command("last", 0);
    const [, body] = Buffer.from(bytes).toString().split("\r\n\r\n");
    if (JSON.parse(body ?? "null").length !== BATCH) throw new Error("what was sent last is no whole batch");
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  #command(what: string, points: number) {
    return this.#engine.command(this.#encoder.encode(JSON.stringify({ what, points })));
  }
}

/** `use` on an engine of its own. */
export async function onXs<T>(use: (points: PointsOnXs) => Promise<T>): Promise<T> {
  const points = await PointsOnXs.start();
  try {
    return await use(points);
  } finally {
    await points.close();
  }
}
