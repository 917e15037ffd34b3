// Improv by hand: each frame that a client may send, and what the device answers.
import test from "ava";
import fc from "fast-check";
import { Improv, type ScannedNetwork } from "../../../extras/commissioning/improv.js";
import { FrameReader, writeFrame } from "../../../extras/commissioning/improv-frames.js";
import { fakeHost } from "../../fakes/host.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { type RigOptions, rig, URL } from "./rig.js";

const PLACE = `${URL}/entities/devices?textSearch=mote-1`;
const INFO = ["desk", "1.0.0", "ESP32-C3", "mote-1"] as const;
const [STATE, ERROR, COMMAND, RESULT] = [1, 2, 3, 4];
const text = (value: string): number[] => [Buffer.byteLength(value), ...Buffer.from(value)];
const wifi = (ssid: string, password: string): number[] => {
  const data = [...text(ssid), ...text(password)];
  return [1, data.length, ...data];
};

/** What a frame says, for people. */
function said(frame: Uint8Array): string {
  const [kind, , ...data] = frame.subarray(8, -2);
  if (kind === STATE) return `state ${data}`;
  if (kind === ERROR) return `error ${data}`;
  const texts = [];
  for (let at = 2; at < data.length; at += data[at]! + 1)
    texts.push(Buffer.from(data.slice(at + 1, at + 1 + data[at]!)).toString());
  return `result ${data[0]} ${JSON.stringify(texts)}`;
}

function device(
  options: RigOptions & { scan?: (found: (near: ScannedNetwork) => void, done: () => void) => void } = {},
) {
  const made = rig(options);
  const { commissioning, entry, host } = made;
  const answers: string[] = [];
  const improv = new Improv({
    host,
    write: (bytes) => answers.push(said(bytes)),
    info: INFO,
    url: () => PLACE,
    entry,
    scan: options.scan,
  });
  const others = commissioning.onChange;
  commissioning.onChange = () => {
    others();
    improv.changed();
  };
  const lines: string[] = [];
  const reader = new FrameReader(
    host.clock,
    (bytes) => lines.push(Buffer.from(bytes).toString()),
    (kind, data) => improv.frame(kind, data),
  );
  const send = (data: number[], kind = COMMAND): string[] => {
    reader.feed(writeFrame(kind, data));
    return answers.splice(0);
  };
  return { ...made, send, answers, lines, reader };
}

const BUILT_IN = { url: URL, key: KEY, secret: SECRET };

test("a device with its platform built in takes a Wi-Fi, and answers where it is found", async (t) => {
  const { send, checked, answers, joined } = device({ before: BUILT_IN });
  t.deepEqual(send([2, 0]), ["state 2"]);
  t.deepEqual(send([3, 0]), [`result 3 ${JSON.stringify(INFO)}`]);
  t.deepEqual(send(wifi("home", "correct horse")), ["error 0", "state 3"]);
  t.deepEqual(send([2, 0]), ["state 3"]);
  await checked();
  t.deepEqual(answers.splice(0), ["state 4", `result 1 ["${PLACE}"]`]);
  t.deepEqual(
    joined.map(({ ssid, password }) => [ssid, password]),
    [["home", "correct horse"]],
  );
  t.deepEqual(send([2, 0]), ["state 4", `result 2 ["${PLACE}"]`]);
});

test("a password that is wrong, a platform that is missing, and a name that is too long are refused; an open network has no password", async (t) => {
  const wrong = device({
    before: BUILT_IN,
    join: () => ({ field: "password", reason: "the Wi-Fi's password is wrong" }),
  });
  wrong.send(wifi("home", "wrong horse"));
  await wrong.checked();
  t.deepEqual(wrong.answers.splice(0), ["state 2", "error 3"]);
  const bare = device();
  t.deepEqual(bare.send(wifi("home", "correct horse")), ["error 0", "error 3"]);
  t.regex(bare.said.at(-1)!, /platform's address/);
  t.deepEqual(bare.send(wifi("h".repeat(33), "correct horse")), ["error 0", "error 3"]);
  const open = device({ before: BUILT_IN });
  open.send(wifi("home", ""));
  t.is(open.joined[0]?.password, undefined);
});

test("what is damaged, unknown, no command or too much is answered by its error, and changes nothing", (t) => {
  const { send, reader, answers, commissioning } = device({ before: BUILT_IN });
  const damaged = writeFrame(COMMAND, wifi("home", "correct horse"));
  damaged[20]! ^= 1;
  reader.feed(damaged);
  t.deepEqual(answers.splice(0), ["error 1"]);
  for (const data of [[], [1], [1, 3, 4], [1, 0], [1, 1, 9], [1, 5, ...text("home")], [1, 2, 0, 0], [2, 1]])
    t.deepEqual(send(data), ["error 1"], String(data));
  t.deepEqual(send([1, 4, 1, 0xff, 1, 0x61]), ["error 1"], "no UTF-8");
  t.deepEqual(send([1, 12, ...text("home"), ...text("horse!"), 0].map((one, i) => (i === 1 ? 13 : one))), [
    "error 1",
  ]);
  for (const command of [0, 5, 6, 7, 255]) t.deepEqual(send([command, 0]), ["error 2"]);
  t.deepEqual(send([4, 0]), ["error 2"], "no radio that looks for networks");
  for (const kind of [STATE, ERROR, RESULT, 9]) t.deepEqual(send([2, 0], kind), []);
  t.is(commissioning.state, "open");
});

test("networks come one by one, and an empty result behind them; one search at a time, and none that throws holds it up", (t) => {
  const near: ScannedNetwork[] = [
    { ssid: "home", rssi: -50, secured: true },
    { ssid: "", rssi: -60, secured: true },
    { ssid: "caf\u00e9", rssi: -70, secured: false },
  ];
  let end = (): void => {};
  let broken = false;
  const { send, answers } = device({
    scan: (found, done) => {
      if (broken) throw new Error("busy");
      end = () => {
        near.forEach(found);
        done();
      };
    },
  });
  t.deepEqual(send([4, 0]), []);
  t.deepEqual(send([4, 0]), ["error 255"]);
  end();
  t.deepEqual(answers.splice(0), [
    'result 4 ["home","-50","YES"]',
    'result 4 ["caf\u00e9","-70","NO"]',
    "result 4 []",
  ]);
  broken = true;
  t.deepEqual(send([4, 0]), ["result 4 []"]);
});

test("a device that has what it needs says so and where it is, and takes no Wi-Fi", (t) => {
  const answers: string[] = [];
  const improv = new Improv({
    host: fakeHost(),
    write: (bytes) => answers.push(said(bytes)),
    info: INFO,
    url: () => PLACE,
  });
  improv.frame(COMMAND, Uint8Array.from([2, 0]));
  improv.frame(COMMAND, Uint8Array.from(wifi("other", "correct horse")));
  t.deepEqual(answers, ["state 4", `result 2 ["${PLACE}"]`, "error 255"]);
});

test("nobody came: it is stopped, and whoever waits is answered", async (t) => {
  const { send, host, answers } = device({ before: BUILT_IN });
  await host.clock.advance(600_000);
  t.deepEqual(answers.splice(0), ["state 0"]);
  t.deepEqual(send(wifi("home", "correct horse")), ["error 255"]);
});

test("no text is too long for a frame", (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", maxLength: 300 }), { minLength: 4, maxLength: 4 }),
        (info) => {
          const frames: Uint8Array[] = [];
          const improv = new Improv({
            host: fakeHost(),
            write: (bytes) => frames.push(bytes),
            info: info as unknown as typeof INFO,
            url: () => "",
          });
          improv.frame(COMMAND, Uint8Array.from([3, 0]));
          const [frame] = frames as [Uint8Array];
          return frame[9] === frame.length - 12 && frame[9]! <= 255;
        },
      ),
    ),
  );
});

test("frames are found among what somebody types, in whatever pieces, and every other byte stays text", (t) => {
  const { host } = rig();
  const line = fc.constantFrom("help\r\n", "IMPROV", "IMP", "I", "set wifi IMPROVED\n", "IIMPROV");
  const frame = fc.uint8Array({ maxLength: 255 }).map((data) => ({ data }));
  fc.assert(
    fc.property(
      fc.array(fc.oneof(line, frame)),
      fc.array(fc.integer({ min: 1, max: 40 })),
      (parts, sizes) => {
        // A frame stands on a line of its own.
        const bytes = Buffer.concat(
          parts.map((part) =>
            typeof part === "string" ? Buffer.from(part) : writeFrame(COMMAND, part.data),
          ),
        );
        const frames: number[][] = [];
        let typed = "";
        const reader = new FrameReader(
          host.clock,
          (text) => (typed += Buffer.from(text).toString()),
          (_kind, data) => frames.push([...data!]),
        );
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % Math.max(1, sizes.length)] ?? bytes.length;
          reader.feed(bytes.subarray(at, at + size));
          at += size;
        }
        // The last bytes may be the beginning of a header.
        reader.feed(Buffer.from("\n"));
        const expected = parts.map((part) => (typeof part === "string" ? part : "\n\n")).join("");
        t.is(typed, `${expected}\n`);
        t.deepEqual(
          frames,
          parts.flatMap((part) => (typeof part === "string" ? [] : [[...part.data]])),
        );
        return true;
      },
    ),
  );
});

test("half a frame that nobody ends is forgotten after a second", async (t) => {
  const { send, reader, host, lines } = device();
  reader.feed(writeFrame(COMMAND, wifi("home", "secret")).subarray(0, 20));
  await host.clock.advance(1500);
  reader.feed(Buffer.from("show\n"));
  t.true(lines.join("").endsWith("show\n"));
  t.false(lines.join("").includes("home"));
  t.deepEqual(send([2, 0]), ["state 2"]);
});
