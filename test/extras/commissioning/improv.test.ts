// Improv: every frame that a client may send, beside the other ways to commission, in any order.
import test from "ava";
import fc from "fast-check";
import { Improv, type ScannedNetwork } from "../../../extras/commissioning/improv.js";
import { FrameReader, writeFrame } from "../../../extras/commissioning/improv-frames.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { type RigOptions, rig, URL } from "./rig.js";

const PLACE = `${URL}/entities/devices?textSearch=mote-1`;
const INFO = ["desk", "1.0.0", "ESP32-C3", "mote-1"] as const;
const [STATE, ERROR, COMMAND, RESULT] = [1, 2, 3, 4];
const RIGHT = "correct horse";
const text = (value: string): number[] => [Buffer.byteLength(value), ...Buffer.from(value)];
const wifi = (ssid: string, password: string): number[] => {
  const data = [...text(ssid), ...text(password)];
  return [1, data.length, ...data];
};

/** A frame in words. */
function said(frame: Uint8Array): string {
  const [kind, , ...data] = frame.subarray(8, -2);
  if (kind === STATE) return `state ${data}`;
  if (kind === ERROR) return `error ${data}`;
  const texts = [];
  for (let at = 2; at < data.length; at += data[at]! + 1)
    texts.push(Buffer.from(data.slice(at + 1, at + 1 + data[at]!)).toString());
  return `result ${data[0]} ${JSON.stringify(texts)}`;
}

/** A device with its platform built in. `send`: what it answers at once. */
function device(
  options: RigOptions & { scan?: (found: (near: ScannedNetwork) => void, done: () => void) => void } = {},
) {
  const made = rig({
    before: { url: URL, key: KEY, secret: SECRET },
    join: ({ password }) =>
      password === RIGHT || password === undefined
        ? undefined
        : { field: "password", reason: "the Wi-Fi's password is wrong" },
    ...options,
  });
  const { commissioning, entry, host } = made;
  const answers: string[] = [];
  const improv = new Improv({
    ...{ host, info: INFO, url: () => PLACE, entry, scan: options.scan },
    write: (bytes) => answers.push(said(bytes)),
  });
  commissioning.entry(() => improv.changed());
  const reader = new FrameReader(host.clock, (kind, data) => improv.frame(kind, data));
  const send = (data: number[], kind = COMMAND): string[] => {
    reader.feed(writeFrame(kind, data));
    return answers.splice(0);
  };
  return { ...made, send, answers, reader };
}

test("damaged, unknown and oversized frames are answered by their error, and change nothing", (t) => {
  const { send, reader, answers, commissioning } = device();
  const damaged = writeFrame(COMMAND, wifi("home", RIGHT));
  damaged[20]! ^= 1;
  reader.feed(damaged);
  t.deepEqual(answers.splice(0), ["error 1"]);
  for (const data of [
    ...[[], [1], [1, 3, 4], [1, 0], [1, 1, 9], [1, 5, ...text("home")], [1, 2, 0, 0], [2, 1]],
    // No UTF-8; more than the command's length says.
    ...[
      [1, 4, 1, 0xff, 1, 0x61],
      [1, 13, ...text("home"), ...text("horse!"), 0],
    ],
  ])
    t.deepEqual(send(data), ["error 1"], String(data));
  for (const command of [0, 4, 5, 6, 7, 255]) t.deepEqual(send([command, 0]), ["error 2"]);
  for (const kind of [STATE, ERROR, RESULT, 9]) t.deepEqual(send([2, 0], kind), []);
  t.deepEqual(send(wifi("h".repeat(33), RIGHT)), ["error 0", "error 3"]);
  t.is(commissioning.state, "open");
  t.deepEqual(send([3, 0]), [`result 3 ${JSON.stringify(INFO)}`]);
  const bare = device({ before: {} });
  t.deepEqual(bare.send(wifi("home", RIGHT)), ["error 0", "error 3"], "no platform is known");
  const open = device();
  open.send(wifi("home", ""));
  t.is(open.joined[0]?.password, undefined, "an open network has no password");
});

test("lists networks one by one and ends with an empty result, also if the search failed", (t) => {
  let end = (): void => {};
  let isBroken = false;
  const { send, answers } = device({
    scan: (found, done) => {
      if (isBroken) throw new Error("busy");
      end = () => {
        found({ ssid: "home", rssi: -50, secured: true });
        found({ ssid: "", rssi: -60, secured: true });
        found({ ssid: "caf\u00e9", rssi: -70, secured: false });
        done();
      };
    },
  });
  t.deepEqual(send([4, 0]), []);
  t.deepEqual(send([4, 0]), ["error 255"]);
  end();
  const found = ['result 4 ["home","-50","YES"]', 'result 4 ["caf\u00e9","-70","NO"]', "result 4 []"];
  t.deepEqual(answers.splice(0), found);
  isBroken = true;
  t.deepEqual(send([4, 0]), ["result 4 []"]);
});

const password = fc.constantFrom(RIGHT, "wrong horse", "short");
const ACTION = fc.oneof(
  fc.record({ by: fc.constantFrom("improv", "page"), password }),
  fc.record({ by: fc.constant("state") }),
  fc.record({ by: fc.constant("unknown"), command: fc.integer({ min: 5, max: 255 }) }),
  fc.record({ by: fc.constant("time"), ms: fc.constantFrom(0, 1000, 3500, 11_000, 300_000) }),
);
type Action = typeof ACTION extends fc.Arbitrary<infer One> ? One : never;
/** In the numbers of Improv. */
const NUMBERS = { closed: 0, open: 2, checking: 3, done: 4 } as const;

test("a client knows the state and gets one answer for each Wi-Fi, whatever the page does", async (t) => {
  const live = async (actions: readonly Action[]): Promise<void> => {
    const { commissioning, host, post, send, answers } = device();
    let isDone = false;
    commissioning.entry(() => {
      if (commissioning.state === "done") isDone = true;
    });
    let [known, waiting] = [2, 0];
    const expect = (isTrue: boolean, otherwise: string): void => {
      if (!isTrue) throw new Error(otherwise);
    };
    const hear = (heard: readonly string[]): void => {
      for (const one of heard) {
        if (one.startsWith("state")) known = Number(one.slice(6));
        if (one === "error 3" || one.startsWith("result 1 ")) waiting--;
        expect(waiting >= 0, "an answer that nobody waits for");
        expect(!one.includes(RIGHT) && !one.includes(SECRET), "a secret");
      }
      // Once done it restarts with its settings.
      const state = isDone ? NUMBERS.done : NUMBERS[commissioning.state];
      expect(known === state, `the client believes ${known}, it is ${state}`);
    };
    for (const action of actions) {
      const isOpen = commissioning.state === "open";
      if ("ms" in action) await host.clock.advance(action.ms);
      else if ("command" in action) {
        const heard = send([action.command, 0]);
        expect(heard.join() === "error 2", `command ${action.command}: ${heard}`);
      } else if (!("password" in action)) {
        const heard = send([2, 0]);
        expect(heard.some((one) => one.startsWith("result 2 ")) === isDone, `asked: ${heard}`);
        hear(heard);
      } else if (action.by === "page") await post({ ssid: "home", password: action.password });
      else {
        if (isOpen) waiting++;
        const heard = send(wifi("home", action.password));
        expect(heard[0] === (isOpen ? "error 0" : "error 255"), `answered by ${heard}`);
        hear(heard);
      }
      hear(answers.splice(0));
    }
    await host.clock.advance(1_200_000);
    hear(answers.splice(0));
    expect(waiting === 0, "a Wi-Fi was taken, and nothing was said of it");
  };
  await t.notThrowsAsync(
    fc.assert(fc.asyncProperty(fc.array(ACTION, { maxLength: 25 }), live), { numRuns: 150 }),
  );
});

test("frames are found among other bytes, in whatever pieces", (t) => {
  const { host } = rig();
  const line = fc.constantFrom("help\r\n", "IMPROV", "IMP", "I", "set wifi IMPROVED\n", "IIMPROV");
  const parts = fc.array(fc.oneof(line, fc.uint8Array({ maxLength: 255 })));
  fc.assert(
    fc.property(parts, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (all, sizes) => {
      const bytes = Buffer.concat(
        all.map((part) => (typeof part === "string" ? Buffer.from(part) : writeFrame(COMMAND, part))),
      );
      const frames: number[][] = [];
      const reader = new FrameReader(host.clock, (_kind, data) => frames.push([...data!]));
      for (let at = 0, i = 0; at < bytes.length; at += sizes[i++ % sizes.length]!)
        reader.feed(bytes.subarray(at, at + sizes[i % sizes.length]!));
      // The last bytes may be the beginning of a header.
      reader.feed(Buffer.from("\n"));
      t.deepEqual(
        frames,
        all.flatMap((part) => (typeof part === "string" ? [] : [[...part]])),
      );
    }),
  );
});
