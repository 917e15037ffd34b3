// Shared attributes against a reference: what a subscriber knows is what the platform has, once it could find out.
import fc from "fast-check";
import { NAME, startRig, test } from "../agent/rig.js";
import { type Command, calm, command, faults, restartDevice, restartPlatform, wait } from "./commands.js";

const RUNS = 25;
const KEYS = ["a", "b", "c"] as const;

// The reference: the platform's values, all that each key ever had, and what the subscribers heard last.
interface Model {
  readonly values: Map<string, number>;
  readonly ever: Map<string, (number | undefined)[]>;
  readonly heard: Map<string, unknown>;
  next: number;
}

const key = fc.constantFrom(...KEYS);
const isLook = ({ method, path }: { method: string; path: string }) =>
  method === "GET" && path.includes("attributes?");
const isUpdate = ({ path }: { path: string }) => path.includes("attributes/updates");

const set = (name: string): Command<Model> =>
  command(`set ${name}`, ({ values, ever, ...model }, { rig }) => {
    const value = (ever.get(name)?.length ?? 0) * 10 + model.next;
    values.set(name, value);
    ever.get(name)?.push(value);
    rig.platform.setShared(rig.platform.device(NAME), { [name]: value });
  });

const remove = (name: string): Command<Model> =>
  command(`delete ${name}`, ({ values, ever }, { rig }) => {
    values.delete(name);
    ever.get(name)?.push(undefined);
    rig.platform.deleteShared(rig.platform.device(NAME), [name]);
  });

const settle: Command<Model> = command("settle", async ({ values, heard }, real) => {
  await calm(real, 11 * 60_000);
  for (const name of KEYS) {
    if (heard.get(name) !== values.get(name))
      throw new Error(`${name} is ${values.get(name)}, heard ${heard.get(name)}`);
  }
});

const COMMANDS: fc.Arbitrary<Command<Model>>[] = [
  key.map(set),
  key.map(set),
  key.map(remove),
  wait(),
  fc.constant(settle),
  fc.constant(restartDevice<Model>()),
  fc.constant(restartPlatform<Model>()),
  faults("find nothing, as in a database error,", isLook, { status: 200, body: {} }),
  faults("lose the answer to a look", isLook, "lose-answer"),
  faults("lose what a poll brings", isUpdate, "lose-answer"),
  faults("be busy", () => true, { status: 503 }),
];

for (const connections of [2, 3] as const) {
  test(`${connections} connections: shared attributes do what their reference does`, async (t, as) => {
    await fc.assert(
      fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 20, size: "max" }), async (commands) => {
        const rig = startRig(t, as);
        const model: Model = {
          values: new Map(),
          ever: new Map(KEYS.map((name) => [name, [undefined]])),
          heard: new Map(),
          next: 1,
        };
        const begin = () => {
          const agent = rig.agent({ connections });
          for (const name of KEYS) {
            agent.attributes.subscribe(name, (value) => {
              if (!model.ever.get(name)?.includes(value as number)) t.fail(`${name} never was ${value}`);
              model.heard.set(name, value);
            });
          }
          agent.start();
          return agent;
        };
        begin();
        await rig.clock.advance(3000);
        const real = { rig, begin };
        await fc.asyncModelRun(() => ({ model, real }), commands);
        await settle.run(model, real);
      }),
      { numRuns: RUNS },
    );
    t.pass();
  });
}
