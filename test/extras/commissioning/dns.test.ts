import test from "ava";
import { answerDns } from "../../../extras/commissioning/dns.js";
import { randomBytes } from "../../fakes/host.js";

const ADDRESS = [192, 168, 4, 1];

function question(name: string, type = 1, kind = 1): Buffer {
  const labels = name === "" ? [] : name.split(".");
  const parts = labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([
    Buffer.from([0xab, 0xcd, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ...parts,
    Buffer.from([0, 0, type, 0, kind]),
  ]);
}

test("every name is here", (t) => {
  for (const name of ["captive.apple.com", "a", "x".repeat(63)]) {
    const asked = question(name);
    const answer = Buffer.from(answerDns(asked, ADDRESS)!);
    t.deepEqual(answer.subarray(0, 2), asked.subarray(0, 2));
    t.is(answer.readUInt16BE(2), 0x8500);
    t.deepEqual([answer.readUInt16BE(4), answer.readUInt16BE(6)], [1, 1]);
    t.deepEqual(answer.subarray(12, asked.length), asked.subarray(12));
    t.deepEqual([...answer.subarray(-16)], [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...ADDRESS]);
  }
});

test("what is asked besides an IPv4 address has no answer, and that is said at once", (t) => {
  for (const type of [28, 65, 16]) {
    const answer = Buffer.from(answerDns(question("captive.apple.com", type), ADDRESS)!);
    t.deepEqual([answer.readUInt16BE(6), answer[3]], [0, 0]);
    t.is(answer.length, question("captive.apple.com", type).length);
  }
});

test("records behind the question are left out of the answer", (t) => {
  const asked = Buffer.concat([question("a.b"), Buffer.from([0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 0])]);
  asked[11] = 1;
  const answer = Buffer.from(answerDns(asked, ADDRESS)!);
  t.is(answer.length, question("a.b").length + 16);
  t.is(answer.readUInt16BE(10), 0);
});

test("what is no plain question gets no answer", (t) => {
  const plain = question("a.b");
  const changed = (at: number, byte: number) => Object.assign(Buffer.from(plain), { [at]: byte });
  for (const [what, packet] of [
    ["an answer", changed(2, 0x81)],
    ["another opcode", changed(2, 0x28)],
    ["no question", changed(5, 0)],
    ["two questions", changed(5, 2)],
    ["an answer in it", changed(7, 1)],
    ["a pointer", changed(12, 0xc0)],
    ["a label of 64", changed(12, 64)],
    ["a name without end", plain.subarray(0, -5)],
    ["no type", plain.subarray(0, -2)],
    ["a name of 300 bytes", question(Array.from({ length: 75 }, () => "abc").join("."))],
    ["nothing", Buffer.alloc(0)],
    ["too much", Buffer.concat([plain, Buffer.alloc(500)])],
  ] as const)
    t.is(answerDns(packet, ADDRESS), undefined, what);
});

test("whatever comes, an answer is no longer than the question by more than its record, and not of a packet that is an answer", (t) => {
  const next = randomBytes(7);
  const plain = question("captive.apple.com");
  for (let n = 0; n < 20_000; n++) {
    const packet = Buffer.from(plain.subarray(0, (next() % plain.length) + 1));
    for (let k = next() % 4; k > 0; k--) packet[next() % packet.length] = next();
    const answer = answerDns(packet, ADDRESS);
    if (!answer) continue;
    t.true(answer.length <= packet.length + 16);
    t.is(packet[2]! & 0x80, 0);
  }
});
