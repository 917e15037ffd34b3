// Which values the firmware's options take.
import test from "ava";
import { Agent, type AgentOptions, MoteError } from "../../../../src/index.js";
import { fakeHost } from "../../../fakes/host.js";

function mistakes(firmware: object): string[] {
  const options = {
    baseUrl: "https://platform.test",
    token: "t",
    firmware: { title: "lamp", version: "1", ...firmware },
  };
  try {
    new Agent(fakeHost(), options as AgentOptions);
    return [];
  } catch (error) {
    if (error instanceof MoteError && error.code === "BAD_OPTIONS") return error.message.split("; ");
    throw error;
  }
}

// The generator of P-256, which is a point of it.
const POINT =
  "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296" +
  "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
const call = () => true;

for (const [name, good, bad] of [
  ["title", ["x", "x".repeat(255)], ["", " ", "x".repeat(256), undefined, 1, null]],
  ["version", ["1", "x".repeat(255)], ["", "\t", "x".repeat(256), undefined, 1, {}]],
  ["allow", [undefined, call], [null, true, "later"]],
  ["selfTest", [undefined, call], [null, true]],
  ["onProgress", [undefined, call], [null, 5]],
  [
    "publicKey",
    [undefined, POINT],
    ["", POINT.slice(2), `${POINT.slice(0, -1)}4`, `05${POINT.slice(2)}`, 4, null],
  ],
  [
    "urlHosts",
    [undefined, [], ["files.test"], ["files.test:8443", "10.0.0.1", "[::1]:80"]],
    [
      ["Files.test"],
      ["https://files.test"],
      ["files.test/x"],
      ["files.test", ""],
      ["me@files.test"],
      [5],
      "files.test",
      null,
    ],
  ],
  ["allowUnverified", [undefined, false, true], [null, 0, "true"]],
  ["allowHttp", [undefined, false, true], [null, 1, "false"]],
  ["spreadMs", [undefined, 0, 1, 604_800_000], [-1, 1.5, 604_800_001, "10m", null]],
  ["minimumVersion", [undefined, "1.2.0", "v1-rc"], ["", "x", "1.", 1, null]],
  [
    "chunkBytes",
    [undefined, 1024, 2048, 16_384, 65_536],
    [0, 512, 1023, 1025, 3072, 65_535, 131_072, -1024, "1024", Number.NaN, null],
  ],
] as const) {
  test(`firmware.${name} takes what it may be, and anything else is reported by its name`, (t) => {
    for (const value of good) t.deepEqual(mistakes({ [name]: value }), [], `${value}`);
    for (const value of bad) {
      const reported = mistakes({ [name]: value });
      t.is(reported.length, 1, `${value}`);
      t.regex(reported[0] ?? "", new RegExp(`^firmware\\.${name} \\w.+`));
    }
  });
}
