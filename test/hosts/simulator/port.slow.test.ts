// The simulator's host, on the SDK's own sockets, files and digests, keeps the port's promises.
import { X509Certificate } from "node:crypto";
import test from "ava";
import { texts } from "../../xs/guest/texts.js";
import { PROMISES, SOCKET_PROMISES } from "../port/promises.js";
import { CERT } from "../port/tls-fixture.js";
import { Guest, guestProgram, inSimulator } from "./rig.js";

let program: Promise<string> | undefined;
const guests = new Map<boolean, Promise<Guest>>();
test.after.always(async () => {
  for (const guest of guests.values()) await (await guest).close();
});

function guest(secure: boolean): Promise<Guest> {
  let made = guests.get(secure);
  if (!made) {
    made = (async () => {
      program ??= guestProgram();
      const one = new Guest(secure);
      await one.start(await program, [new X509Certificate(CERT).raw.toString("base64")]);
      return one;
    })();
    guests.set(secure, made);
  }
  return made;
}

inSimulator(
  "values, documents, paths and checksums come out the same where strings count code points",
  async (t) => {
    const [here, there] = [texts(), (await (await guest(false)).call("texts", 0, 1000)) as string[]];
    t.true(here.length > 400);
    const differ = here.flatMap((text, i) => (text === there[i] ? [] : [[text, there[i]]]));
    t.deepEqual(differ, []);
  },
);

/** Of a simulator's connection: 1,536 bytes in 20 ms. */
const LIMITS = { bytes: 100_000, sockets: 20 };
/**
 * The system takes megabytes before it holds back, and the SDK's socket gives it 77 kB in a second:
 * longer than the case waits.
 */
const TOO_SLOW = "socket: with a peer that does not read, write takes less, and the rest once it reads again";

for (const secure of [false, true]) {
  for (const { title } of secure ? SOCKET_PROMISES : PROMISES) {
    if (title === TOO_SLOW) continue;
    inSimulator(`in the simulator${secure ? ", over TLS" : ""}, ${title}`, async (t) => {
      const one = await guest(secure);
      await one.fresh();
      await t.notThrowsAsync(one.call("promise", title, secure, LIMITS));
    });
  }
}
