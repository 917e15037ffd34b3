// Slots of an idle agent on the engine of the tests: those in use with it, less those with its modules loaded and no agent. To the very slot, as
// nothing goes on but waiting. The engine loads modules into RAM and gives functions a name and a length: the simulator's figure is another one.
import { fakeHost } from "../../test/fakes/host.js";
import { Bridge } from "../../test/xs/engine/bridge.js";
import { ENTRY, standStill } from "../../test/xs/engine/still.js";

export async function idleOnXs(connections: 1 | 2 | 3): Promise<number> {
  const ends: (() => Promise<void>)[] = [];
  const bare = await Bridge.start(fakeHost(), { entry: ENTRY });
  ends.push(() => bare.close());
  try {
    const still = await standStill({ teardown: (end) => void ends.push(end) }, { connections });
    return (await still.slots()) - (await bare.slots());
  } finally {
    for (const end of ends) await end();
  }
}
