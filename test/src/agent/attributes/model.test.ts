// Shared attributes against a reference: what a subscriber knows is what the platform has, once it could find out.
import fc from "fast-check";
import { MARKER_KEY, MARKER_VALUE } from "../../../../src/agent/attributes/freshness-marker.js";
import type { Agent } from "../../../../src/index.js";
import {
  type Command,
  calm,
  command,
  faults,
  restartDevice,
  restartPlatform,
  wait,
} from "../model-commands.js";
import { NAME, startRig, test } from "../rig.js";

const RUNS = 25;
const KEYS = ["a", "b", "c"] as const;
/** In calm the values are read within this. */
const LOOKED_MS = 32_000;
/** Nobody is interested in it before the middle. */
const LATE = "d";

class Subscriber {
  readonly name: string;
  heard: unknown;
  /** How often it heard that the key is gone. */
  gone = 0;
  constructor(name: string) {
    this.name = name;
  }
}

// The reference: the platform's values, all that each key ever had, and what the subscribers heard last.
interface Model {
  readonly values: Map<string, number>;
  readonly ever: Map<string, (number | undefined)[]>;
  readonly subscribers: Subscriber[];
  /** What a subscriber should not have heard. */
  readonly wrong: string[];
  agent?: Agent;
  /** The last look lacked what is there: the next does not, or both together would be a deletion. */
  lacked: boolean;
}

const key = fc.constantFrom(...KEYS, LATE);
const isLook = ({ method, path }: { method: string; path: string }) =>
  method === "GET" && path.includes("attributes?");
const isUpdate = ({ path }: { path: string }) => path.includes("attributes/updates");

const set = (name: string): Command<Model> =>
  command(`set ${name}`, ({ values, ever }, { rig }) => {
    const value = ever.get(name)!.length;
    values.set(name, value);
    ever.get(name)!.push(value);
    rig.platform.setShared(rig.platform.device(NAME), { [name]: value });
  });

const remove = (name: string): Command<Model> =>
  command(`delete ${name}`, ({ values, ever }, { rig }) => {
    if (values.delete(name)) ever.get(name)!.push(undefined);
    rig.platform.deleteShared(rig.platform.device(NAME), [name]);
  });

/** What was never set is never heard, and each deletion is heard once at most. */
function listen({ agent, ever, wrong }: Model, subscriber: Subscriber): void {
  const { name } = subscriber;
  agent!.attributes.subscribe(name, (value) => {
    const times = ever.get(name)!.filter((one) => one === value).length;
    const heard = value === undefined ? ++subscriber.gone : 1;
    if (times < heard) wrong.push(`${name} was ${value} ${times} times, heard ${heard}`);
    subscriber.heard = value;
  });
}

const subscribe = (name: string): Command<Model> =>
  command(`subscribe to ${name}`, (model) => {
    const subscriber = new Subscriber(name);
    model.subscribers.push(subscriber);
    listen(model, subscriber);
  });

/** A look finds the marker and nothing else; the one after it finds all. */
const lack: Command<Model> = command("find nothing but the marker", async (model, { rig }) => {
  let left = 1;
  rig.platform.fault = (request) => {
    if (!isLook(request)) return undefined;
    model.lacked = !model.lacked && left-- > 0;
    return model.lacked ? { status: 200, body: { client: { [MARKER_KEY]: MARKER_VALUE } } } : undefined;
  };
  await rig.clock.advance(LOOKED_MS);
});

const settle: Command<Model> = command("settle", async ({ values, subscribers, wrong }, real) => {
  await calm(real, 11 * 60_000);
  for (const { name, heard } of subscribers) {
    if (heard !== values.get(name)) throw new Error(`${name} is ${values.get(name)}, heard ${heard}`);
  }
  if (wrong.length > 0) throw new Error(wrong.join());
});

const COMMANDS: fc.Arbitrary<Command<Model>>[] = [
  key.map(set),
  key.map(set),
  key.map(remove),
  key.map(subscribe),
  fc.constant(lack),
  wait(),
  fc.constant(settle),
  fc.constant(restartDevice<Model>()),
  fc.constant(restartPlatform<Model>()),
  faults("find nothing, as in a database error,", isLook, { status: 200, body: {} }),
  faults("lose the answer to a look", isLook, "lose-answer"),
  faults("lose what a poll brings", isUpdate, "lose-answer"),
  faults("be busy", () => true, { status: 503 }),
];

for (const connections of [1, 2, 3] as const) {
  const mode = `${connections} connection${connections > 1 ? "s" : ""}`;
  test(`${mode}: shared attributes do what their reference does`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 20, size: "max" }), async (commands) => {
        const rig = startRig(t);
        const model: Model = {
          values: new Map(),
          ever: new Map([...KEYS, LATE].map((name) => [name, []])),
          subscribers: KEYS.map((name) => new Subscriber(name)),
          wrong: [],
          lacked: false,
        };
        const begin = () => {
          const agent = rig.agent({ connections });
          model.agent = agent;
          for (const subscriber of model.subscribers) listen(model, subscriber);
          agent.start();
          return agent;
        };
        begin();
        await rig.clock.advance(3000);
        const real = { rig, begin };
        await fc.asyncModelRun(() => ({ model, real }), commands);
        await settle.run(model, real);
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
    t.pass();
  });
}
