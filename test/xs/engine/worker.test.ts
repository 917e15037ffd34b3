import test from "ava";
import { Netstrings, netstring } from "./netstrings.js";
import { testOnXs } from "./on-xs.js";
import { Engine } from "./worker.js";

test("netstrings come out whole however the stream is cut", (t) => {
  const messages = ["", "a", "12:b,", "c".repeat(1000)];
  const stream = Buffer.concat(messages.map((text) => netstring("?", Buffer.from(text))));
  for (const size of [1, 2, 3, 7, 500, stream.length]) {
    const got: string[] = [];
    const cutter = new Netstrings((message) => got.push(message.toString()));
    for (let at = 0; at < stream.length; at += size) cutter.push(stream.subarray(at, at + size));
    t.deepEqual(
      got,
      messages.map((text) => `?${text}`),
    );
  }
});

test("a stream of something else is reported", (t) => {
  t.throws(() => new Netstrings(() => {}).push(Buffer.from("hello:world")));
  t.throws(() => new Netstrings(() => {}).push(Buffer.from("1:abc")));
});

testOnXs("the meter counts the same steps in every run", async (t) => {
  const steps: number[] = [];
  for (let run = 0; run < 2; run++) {
    const engine = new Engine();
    const { compute } = await engine.evaluate("let sum = 0; for (let i = 0; i < 1000; i++) sum += i;");
    await engine.close();
    steps.push(compute);
  }
  t.true(steps[0]! > 1000);
  t.is(steps[0], steps[1]);
});

testOnXs("slots in use grow with what is kept and shrink with what is dropped", async (t) => {
  const engine = new Engine();
  const slots = async (source: string) => {
    await engine.evaluate(source);
    return (await engine.evaluate("gc()")).heap;
  };
  const before = await slots("globalThis.kept = []");
  const held = await slots("for (let i = 0; i < 1000; i++) kept.push({ i })");
  const after = await slots("kept = []");
  await engine.close();
  t.true(held - before >= 2000, `${held - before}`);
  t.true(Math.abs(after - before) < 50, `${after - before}`);
});

testOnXs("bytes of a megabyte go in and out unchanged", async (t) => {
  const bytes = Uint8Array.from({ length: 1 << 20 }, (_, i) => (i * 7) & 0xff);
  const asked: Uint8Array[] = [];
  const engine = new Engine({
    answer: (question) => {
      asked.push(question.slice());
      return question;
    },
  });
  await engine.evaluate("globalThis.handleCommand = (bytes) => issueCommand(bytes);");
  const reply = await engine.command(bytes);
  await engine.close();
  t.deepEqual(Buffer.compare(reply.bytes, bytes), 0);
  t.deepEqual(Buffer.compare(asked[0]!, bytes), 0);
});

testOnXs("an exception is reported, and the engine goes on", async (t) => {
  const engine = new Engine();
  await t.throwsAsync(engine.evaluate("throw new TypeError('out')"), { message: /TypeError: out/ });
  t.true((await engine.evaluate("1")).compute > 0);
  await engine.close();
});

testOnXs("a script that does not end is killed, and what waits behind it is reported", async (t) => {
  const engine = new Engine({ limitSteps: 1_000_000 });
  const first = t.throwsAsync(engine.evaluate("for (;;);"), { message: /more steps than its limit/ });
  const second = t.throwsAsync(engine.evaluate("1"), { message: /more steps than its limit/ });
  await Promise.all([first, second]);
  await t.throwsAsync(engine.evaluate("1"), { message: /more steps than its limit/ });
  await engine.close();
});

testOnXs("an engine that gives up says what it lacked", async (t) => {
  const engine = new Engine({ output: () => {} });
  await t.throwsAsync(engine.evaluate("(function f() { f(); })()"), { message: /overflowed its stack/ });
  await engine.close();
});

testOnXs("an engine that dies rejects its turn with its last output", async (t) => {
  const engine = new Engine({
    output: () => {},
    answer: () => {
      process.kill(engine.pid, "SIGKILL");
      return new Uint8Array(0);
    },
  });
  const script = "print('the last words'); issueCommand(new ArrayBuffer(1)); for (;;);";
  await t.throwsAsync(engine.evaluate(script), { message: /SIGKILL.*the last words/s });
  await engine.close();
});

testOnXs("an answer that fails ends the engine instead of leaving it waiting", async (t) => {
  const engine = new Engine({
    answer: () => {
      throw new Error("no answer to that");
    },
  });
  await t.throwsAsync(engine.evaluate("issueCommand(new ArrayBuffer(1))"), { message: /no answer to that/ });
  await engine.close();
});
