// Each request of which a real server's answer was recorded is answered as it was there: status,
// headers, framing, body, what was stored, and whether the connection ended.
import { isDeepStrictEqual } from "node:util";
import test from "ava";
import { type Platform, startPlatform } from "../../../../tools/platform/server.js";
import { VirtualClock } from "../rig.js";
import {
  ask,
  expected,
  type Names,
  type Row,
  recordedRows,
  requestOf,
  type Shown,
  storedExpected,
  storedOf,
} from "./recorded.js";

/** Answers that differ on purpose, by the name of the row. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  'provision: b\'{"deviceName":"{N}d","provisionDeviceKey":"{K}","provisionDeviceSecret":"{S}","token":""}\'':
    "the platform makes up the token: another one each time",
};
const ROWS = recordedRows();
const KEYS = { key: "provision-key", secret: "provision-secret" };

let platform: Platform;
const clock = new VirtualClock();

test.before(async () => {
  platform = await startPlatform({ port: 0, clock, profile: KEYS });
});
test.after.always(() => platform.close());

function names(index: number): Names {
  const token = `token${index}`;
  return { T: token, K: KEYS.key, S: KEYS.secret, N: `name-${index}`.padEnd(10, "-"), P: token };
}

/** As it was there when the request was recorded. */
function prepare({ name }: Row, { T }: Names): void {
  const profileId = platform.core.profiles.default.id;
  platform.core.createDevice({ name: `device ${T}`, profileId }, T);
  // The token that the request proposes belongs to another device.
  if (name.includes('{N}c"')) platform.core.createDevice({ name: `other ${T}`, profileId }, `p${T}b`);
}

/** Whatever the platform waits for is due at once. */
async function withTime<T>(answer: Promise<T>): Promise<T> {
  let done = false;
  const settled = answer.finally(() => {
    done = true;
  });
  while (!done) {
    if (clock.waiting > 0) clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return settled;
}

test("answers are those that were recorded, but for the list", async (t) => {
  t.timeout(120_000);
  const different: string[] = [];
  const unexpected: { name: string; got: Shown; want: Shown }[] = [];
  for (const [index, row] of ROWS.entries()) {
    const known = names(index);
    prepare(row, known);
    const request = requestOf(row, known);
    const now = clock.now();
    const want = expected(row, known);
    const got = await withTime(ask(platform, request, row.method === "HEAD", want.closed === true));
    if (want.closed === undefined) got.closed = undefined;
    if (row.answer.stored) {
      Object.assign(got, { stored: storedOf(platform, known.T, now) });
      Object.assign(want, { stored: storedExpected(row) });
    }
    if (isDeepStrictEqual(got, want)) continue;
    different.push(row.name);
    if (DIFFERENCES[row.name] === undefined) unexpected.push({ name: row.name, got, want });
  }
  t.log(`${ROWS.length - different.length} of ${ROWS.length} recorded answers are equal`);
  t.deepEqual(unexpected, []);
  t.deepEqual(different.sort(), Object.keys(DIFFERENCES).sort(), "the list names no other");
});
