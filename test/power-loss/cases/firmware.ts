// A whole update by the whole agent, with the power going at every write, erase, activation,
// confirmation and event of the network: of a package on the platform, of one with a wait before,
// of one that its maker signed, and of one on an external host, with a checksum and without.

import type { Power } from "../../fakes/power.js";
import { imageOf, SECTOR } from "../../src/agent/firmware/machine.js";
import { Files, HOST, URL_2 } from "../../src/agent/firmware/updates/file-servers.js";
import { type Connections, Lamp } from "../../src/agent/firmware/updates/lamp.js";
import { type Case, multiply } from "../runner.js";

/** Of the image: its progress is stored twice, or four times. */
const SIZES = { small: 20_000, large: 36_000 } as const;
/**
 * What `mote sign` made of the image of 20,000 bytes with a key that is no more; made again it
 * would be another, and a run not the same.
 */
const SIGNATURE =
  "304402202101e9f88bb0305cf0d978fb8b333e1951a35ad27cde45bffbee95817aa5f1" +
  "4002207f85afb01d0af525cfcd18abbd73f0bd99fc1376fbbc883b3b289f326c5cdb37";
const PUBLIC_KEY =
  "04a494ee2cd4f3cef47f7185d2ae81509ca6e721c8b484287298eb438aef9914c" +
  "4f11f17945a0b1aa0c02ef03da155aaf39cccdc1b569de32a83cd05e051dde96f";
/** Of the image, after a restart. */
const FETCHED_AGAIN = 16_384;
const PATIENCE_MS = 7_200_000;

interface World {
  readonly lamp: Lamp;
  readonly image: Uint8Array;
  /** In the slot when the update begins. */
  readonly older: Uint8Array;
  /** Bytes that may be fetched again after a restart. */
  readonly fetchedAgain: number;
  /** Lives begun. */
  starts: number;
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

/**
 * From one power loss to the next, or to the end of the update. A start of anything but a whole
 * image throws.
 */
async function resume(world: World, power: Power): Promise<void> {
  const { lamp } = world;
  world.starts++;
  checkSlot(world);
  lamp.machine.power = power;
  lamp.machine.powered = false;
  await lamp.until(() => !power.on || lamp.updated, PATIENCE_MS);
}

/**
 * All but the last start ended by a power loss; each of them may cost 16 KiB (without a checksum
 * all), and a dropped connection nothing.
 */
function check({ lamp, starts, image, fetchedAgain }: World): void {
  const { machine, shown, version } = lamp;
  if (shown.error !== "" || shown.running !== "2.0.0" || version !== "2.0.0")
    throw new Error(`ends with ${JSON.stringify(shown)}`);
  if (machine.state !== "confirmed") throw new Error("the new image is not confirmed");
  const again = machine.fetched.bytes - image.length;
  const powerLosses = starts - 1;
  if (again > powerLosses * fetchedAgain)
    throw new Error(`${again} bytes fetched again after ${powerLosses} power losses`);
}

export const updates: Case<World>[] = [
  ...multiply({ connections: [1, 2, 3] as const }, ({ connections }) =>
    update(`${connections}`, () => {
      const lamp = new Lamp({ connections });
      return begin(lamp, lamp.release("2.0.0", SIZES.small));
    }),
  ),
  update("2-spread", () => spread(2)),
  update("2-signed", () => signed(2)),
  update("1-url", () => external(1, true)),
  update("3-url", () => external(3, true)),
  update("1-url-unverified", () => external(1, false)),
];

function update(name: string, make: () => World): Case<World> {
  return { name: `update-${name}`, begin: make, resume, check };
}

function begin(lamp: Lamp, image: Uint8Array, fetchedAgain = FETCHED_AGAIN): World {
  const older = imageOf("0.9.0", 30_000);
  lamp.machine.slots[1].bytes.set(older);
  return { lamp, image, older, fetchedAgain, starts: 0 };
}

/** It waits before it begins, and the power goes in the wait, too. */
function spread(connections: Connections): World {
  const lamp = new Lamp({ connections, firmware: { spreadMs: 600_000 } });
  return begin(lamp, lamp.release("2.0.0", SIZES.small));
}

/** The checksum is not what is signed: two digests are made. */
function signed(connections: Connections): World {
  const lamp = new Lamp({ connections, firmware: { publicKey: PUBLIC_KEY } });
  const image = lamp.image("2.0.0", SIZES.small);
  lamp.platform.setShared(lamp.device, { fw_signature: SIGNATURE });
  lamp.assign(lamp.package("2.0.0", image, { algorithm: "MD5" }));
  return begin(lamp, image);
}

/**
 * Without a checksum nobody could know that what lay in the slot over a restart is good: it comes
 * again.
 */
function external(connections: Connections, checksum: boolean): World {
  const firmware = { urlHosts: [HOST], allowUnverified: !checksum };
  const files = new Files({ connections, firmware }, { etag: '"1"' }, SIZES.large);
  files.assign(URL_2, checksum ? files.all : {});
  return begin(files.lamp, files.image, checksum ? FETCHED_AGAIN : SIZES.large + SECTOR);
}
