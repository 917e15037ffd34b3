// What a start finds on flash: the durable queue's sectors, and the small values of the store.

import { Agent } from "../../src/index.js";
import { FakeFlash, FakeSlot } from "../fakes/flash.js";
import { FakeStore, fakeHost } from "../fakes/host.js";
import { storedBytes } from "../fakes/stored.js";
import { rig, textOf, waitingStamps, waitingTexts } from "../src/agent/queue/rig.js";
import { must, type Parser, whole } from "./parser.js";

const SECTOR = 512;
const SECTORS = 4;

/**
 * What an outbox leaves behind that took and delivered this many points, by turns; `wall` null:
 * without a clock.
 */
function image(turns: readonly [number, number][], wall: number | null = 1_700_000_000_000): Uint8Array {
  const blocks = new FakeFlash(SECTORS * SECTOR, SECTOR);
  const { outbox } = rig(blocks, {}, undefined, wall);
  let next = 0;
  for (const [taken, delivered] of turns) {
    for (let i = 0; i < taken; i++) outbox.append(textOf(next++), undefined);
    outbox.confirm(outbox.first + Math.min(delivered, outbox.waiting));
  }
  return blocks.bytes;
}

const LAWFUL = [
  image([]),
  image([[3, 1]]),
  image([[60, 0]]),
  image([
    [20, 8],
    [20, 15],
    [9, 2],
  ]),
  image([[12, 4]], null),
];
const TORN = LAWFUL.map((bytes) => bytes.map((byte, at) => (at % SECTOR > 300 && at % 3 === 0 ? 0 : byte)));

/**
 * The documents are what the sectors hold. What is found is brought to an end as the agent does it,
 * batch by batch.
 */
const SECTOR_LOG: Parser = {
  name: "sectors",
  documents: [...LAWFUL, ...TORN],
  read: (pieces) => {
    const document = whole(pieces);
    const bytes = new Uint8Array(SECTORS * SECTOR).fill(0xff);
    bytes.set(document.subarray(0, bytes.length));
    const found = drained(rig(copy(bytes)));
    const blocks = copy(bytes);
    const one = rig(blocks);
    for (let n = 0; n < 3; n++) one.outbox.append(textOf(n), undefined);
    const usable = !one.host.lines.some((line) => line.startsWith("error"));
    const after = drained(usable ? rig(copy(blocks.bytes)) : one);
    must(areWithin(RECORDED, after), "what is recorded waits");
    must(
      !usable ||
        areWithin(
          after.filter((one) => !RECORDED.includes(one)),
          found,
        ),
      "what else waits was there before",
    );
    must(blocks.violations.length === 0, "the rules of flash are kept");
    return [found, usable];
  },
};
const RECORDED = [0, 1, 2].map((n) => Buffer.from(textOf(n)).toString());
/** Deliveries before it must be over: no sector holds so many batches. */
const BATCHES = 200;

/** All of `some` are in `all`, in the same order. */
function areWithin(some: readonly string[], all: readonly string[]): boolean {
  let at = -1;
  return some.every((one) => {
    at = all.indexOf(one, at + 1);
    return at >= 0;
  });
}

const copy = (bytes: Uint8Array) => new FakeFlash(bytes.length, SECTOR, bytes.slice());

/** Delivers all that waits; the texts. */
function drained(one: ReturnType<typeof rig>): string[] {
  const { outbox } = one;
  const found: string[] = [];
  for (let batches = 0; outbox.waiting !== 0; batches++) {
    must(batches < BATCHES, "what waits comes to an end");
    must(outbox.waiting > 0, "no less than nothing waits");
    waitingStamps(one);
    const texts = waitingTexts(outbox);
    found.push(...texts);
    outbox.confirm(outbox.first + texts.length);
  }
  return found;
}

const STORED: readonly [string, string][] = [
  ["token", '{"url":"http://platform.test","token":"T1","name":"greenhouse-7"}'],
  ["proposed", '{"url":"http://platform.test","token":"T1"}'],
  ["queue", "[7,3,40,52,0,30,1,2,3,4,1700000000000,0]"],
  ["rpc", '[[3,123456,5000,1700000000000,"{\\"on\\":true}"]]'],
  ["shared", '{"interval":30,"limits":{"low":1},"fw_title":"a"}'],
  [
    "client",
    '[["serial","\\"serial\\":\\"A-113\\"",1],["moteVersion","\\"moteVersion\\":\\"mote 0.1.0\\"",0]]',
  ],
  [
    "firmware",
    '{"state":"downloading","key":"[\\"a\\",\\"2\\"]","title":"a","version":"2","from":"1","offset":8192,"failures":1,"condemned":false,"error":"","at":0}',
  ],
];
const SLOT = new FakeSlot(4096, 4096);
const NO_BLOCKS = new FakeFlash(0, 512);

/** The first byte chooses the value; the rest is its text. */
const STORE: Parser = {
  name: "stored",
  documents: STORED.map(([, text], index) => Buffer.concat([Buffer.of(index), Buffer.from(text)])),
  read: (pieces) => {
    const [index = 0, ...value] = whole(pieces);
    const store = new FakeStore(
      new Map([[STORED[index % STORED.length]![0], storedBytes(Uint8Array.from(value.slice(0, 3990)))]]),
    );
    const host = fakeHost({ store, slot: SLOT, blocks: NO_BLOCKS });
    const agent = new Agent(host, {
      baseUrl: "http://platform.test",
      provisioning: { key: "key", secret: "secret" },
      firmware: { title: "a", version: "1" },
      telemetry: { bufferBytes: 1024 },
    });
    const seen: unknown[] = [];
    agent.attributes.subscribe("interval", (known) => seen.push(known));
    must(agent.telemetry.record({ n: 1 }), "a point is taken whatever the store holds");
    agent.attributes.publish({ serial: "A-114" });
    agent.start();
    agent.stop();
    must(!host.lines.some((line) => line.includes("threw")), "nothing throws");
    must(!host.lines.some((line) => line.includes("T1")), "no line shows the token");
    return [seen, host.lines];
  },
};

export const FLASH_PARSERS: readonly Parser[] = [SECTOR_LOG, STORE];
