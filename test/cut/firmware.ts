// A whole update by the whole agent, cut at every write, erase, activation, confirmation and event of the network.
import { imageOf } from "../agent/firmware-bench.js";
import { SECTOR } from "../agent/firmware-machine.js";
import { type Connections, Lamp } from "../firmware/lamp.js";
import type { Power } from "./power.js";
import { type Case, multiply } from "./runner.js";

/** Of the image: its progress is stored twice, or four times. */
const SIZES = { documented: 20_000, deployed: 36_000 } as const;
/** Of the image, after a restart. */
const FETCHED_AGAIN = 16_384;
const PATIENCE_MS = 7_200_000;

/** What the sweeps of all cases came to. */
export const measured = { cuts: 0, bytesAgain: 0, mostAgain: 0 };

interface World {
  readonly lamp: Lamp;
  readonly image: Uint8Array;
  /** In the slot when the update begins. */
  readonly older: Uint8Array;
  /** Lives begun. */
  lives: number;
}

/** What has the header of an image, so that something could start it, must be that image. */
function checkSlot({ lamp, image, older }: World): void {
  const { machine } = lamp;
  if (machine.active !== 0) return;
  const slot = machine.slots[1].bytes;
  for (const one of [image, older]) {
    const same = (from: number, to: number) =>
      Buffer.compare(slot.subarray(from, to), one.subarray(from, to)) === 0;
    if (same(0, SECTOR) && !same(SECTOR, one.length)) throw new Error("half an image with its header");
  }
}

/** From one power cut to the next, or to the end of the update. A start of anything but a whole image throws. */
async function live(world: World, power: Power): Promise<void> {
  const { lamp } = world;
  world.lives++;
  checkSlot(world);
  lamp.machine.power = power;
  lamp.machine.alive = false;
  await lamp.until(() => !power.on || lamp.shown.state === "UPDATED", PATIENCE_MS);
}

/** All but the last life ended by a cut; each of them may cost 16 KiB, and a dropped connection nothing. */
function check({ lamp, lives, image }: World): void {
  const { machine, shown, version } = lamp;
  if (shown.error !== "" || shown.running !== "2.0.0" || version !== "2.0.0")
    throw new Error(`ends with ${JSON.stringify(shown)}`);
  if (machine.state !== "confirmed") throw new Error("the new image is not confirmed");
  const again = machine.fetched.bytes - image.length;
  const cuts = lives - 1;
  if (again > cuts * FETCHED_AGAIN) throw new Error(`${again} bytes fetched again after ${cuts} cuts`);
  measured.cuts += cuts;
  measured.bytesAgain += Math.max(0, again);
  if (cuts === 1) measured.mostAgain = Math.max(measured.mostAgain, again);
}

export const updates: Case<World>[] = multiply(
  { connections: [1, 2, 3] as const, as: ["documented", "deployed"] as const },
  ({ connections, as }) => ({
    name: `update-${connections}-${as}`,
    begin: () => begin(connections, as),
    live,
    check,
  }),
);

function begin(connections: Connections, as: "documented" | "deployed"): World {
  const lamp = new Lamp({ connections, as });
  const older = imageOf("0.9.0", 30_000);
  lamp.machine.slots[1].bytes.set(older);
  return { lamp, image: lamp.release("2.0.0", SIZES[as]), older, lives: 0 };
}
