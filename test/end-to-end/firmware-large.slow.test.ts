// A large image through `mote run`, in real processes: the memory of the one that takes it does not
// grow with it. `npx ava --timeout 10m test/end-to-end/firmware-large.slow.test.ts -- --mib 64`
// takes one of 64 MiB, with two and with three connections.
import test from "ava";
import { argument } from "../arguments.js";
import { MIB, updateTo } from "./firmware-large.js";
import { startRig } from "./rig.js";
import { localPlatform } from "./server.js";

const MOST_MIB = 8;
const WANTED = Number(argument("mib") ?? 0);
const [IMAGE_MIB, MODES] = WANTED > 0 ? [WANTED, [2, 3] as const] : [8, [3] as const];
/** No more than half of the image, so that keeping it is found with a small one, too. */
const BOUND_MIB = Math.min(MOST_MIB, IMAGE_MIB / 2);

for (const connections of MODES) {
  test.serial(
    `${IMAGE_MIB} MiB of firmware take less than ${BOUND_MIB} MiB, ${connections} connections`,
    async (t) => {
      const rig = await startRig(t, localPlatform());
      const { memory, seconds } = await updateTo(t, rig, connections, IMAGE_MIB * MIB);
      const before = memory.filter(({ percent }) => percent === 0);
      const during = memory.filter(({ percent }) => percent > 0);
      t.true(before.length > 4 && during.length > 4, `${before.length}, ${during.length}`);
      const grown = (of: "live" | "rss") =>
        Math.max(...during.map((memory) => memory[of])) - Math.min(...before.map((memory) => memory[of]));
      const toMib = (bytes: number) => (bytes / MIB).toFixed(1);
      t.log(`${toMib(grown("live"))} MiB live, ${toMib(grown("rss"))} MiB RSS more in ${seconds} s`);
      t.true(grown("live") < BOUND_MIB * MIB);
    },
  );
}
