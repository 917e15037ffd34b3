import { join } from "node:path";
import { pathToFileURL } from "node:url";
import test from "ava";
import { root } from "./tree.js";

type Pass = (text: string) => string;
const passOf = async (name: string): Promise<Pass> =>
  (await import(pathToFileURL(join(root, `scripts/${name}.mjs`)).href))[name];
const [fold, dissolve, share, settle, ends, empties, letters] = [
  await passOf("fold"),
  await passOf("dissolve"),
  await passOf("share"),
  await passOf("settle"),
  await passOf("ends"),
  await passOf("empties"),
  await passOf("letters"),
];

const load = (text: string) => import(`data:text/javascript,${encodeURIComponent(text)}`);

/** What `run` of the text returns, as it is and after `pass`; and the text then. */
async function both(pass: Pass, text: string): Promise<{ plain: unknown; changed: unknown; text: string }> {
  const written = pass(text);
  const [plain, changed] = await Promise.all([load(text), load(`${written}\n// another module`)]);
  return { plain: await plain.run(), changed: await changed.run(), text: written };
}

test("a variable that is read once, at once, is found out where it is read", async (t) => {
  const { plain, changed, text } = await both(
    fold,
    `
    const log = [];
    const said = (value) => (log.push(value), value);
    class A { n = 2; by(a, b) { return this.n * a + b; } run(k) { const one = said(this.n); const two = said(one + k); return this.by(1, two); } }
    export const run = async () => {
      const all = [];
      const sum = said(1) + said(2); all.push(sum);
      const later = await said(3); all.push(later);
      const name = said("a"); if (name === "a") all.push(said("b"));
      const kind = said("c"); switch (kind) { case "c": all.push("is c"); }
      const first = said(4); const second = said(5); all.push([first, second]);
      const short = said(6); all.push({ short });
      const list = said([7, 8]); for (const item of list) all.push(item);
      const inner = said(9); { all.push(inner); }
      const up = (n) => { const next = n + 1; return next; };
      return [all, log, new A().run(4), up(1)];
    };`,
  );
  t.deepEqual(changed, plain);
  for (const name of [
    "sum",
    "later",
    "name",
    "kind",
    "first",
    "second",
    "list",
    "inner",
    "next",
    "one",
    "two",
  ])
    t.notRegex(text, new RegExp(`const ${name} =`));
  t.regex(text, /short: \(said\(6\)\)/);
});

test("a variable stays where its value would be another one by then, or another name, or only sometimes found out", async (t) => {
  const { plain, changed, text } = await both(
    fold,
    `
    const log = [];
    const said = (value) => (log.push(value), value);
    let count = 0;
    const next = () => (count += 1);
    export const run = () => {
      const o = { n: 1, f: (a) => a, g(a, b) { return [a, b]; } };
      const change = () => { o.n += 1; o.f = (a) => a * 10; return o.n; };
      const a = change(); const ra = o.n + a;
      const b = change(); const rb = o.f(b);
      const c = next(); const rc = count + c;
      const d = o.n; const rd = change() + d;
      const e = said("e"); const re = count > 100 && e;
      const f = said("f"); const rf = count > 100 ? f : 0;
      const g = said("g"); try { log.push(g); } catch {}
      const h = said("h"); while (log.length < 6) log.push(h);
      const i = said("i"); const ri = (() => i)();
      let j = 0; const k = (j += 1); const rk = [j, k];
      const l = said("l"); { const said = () => "other"; log.push(said(), l); }
      const m = said("m"); for (const said of [m]) log.push(said);
      const n = said("n"); log.push(said("before"), n);
      const p = said("p"); const q = said("q"); const rp = [q, p];
      const s = next(); const rs = [[count, s], o.none?.(s)];
      return [ra, rb, rc, rd, re, rf, ri, rk, rp, rs, log, o.n];
    };`,
  );
  t.deepEqual(changed, plain);
  for (const name of ["a", "b", "c", "d", "e", "f", "g", "h", "i", "k", "l", "m", "n", "p", "s"])
    t.regex(text, new RegExp(`const ${name} = `), name);
});

test("another name of a variable that keeps its value is that variable, wherever it is read", async (t) => {
  const { plain, changed, text } = await both(
    fold,
    `
    let moving = 1;
    const outer = (value) => {
      const same = value; const small = 3; const large = 3000; const was = moving;
      let kept = value; kept += 1;
      const calls = [1, 2].map((one) => { const item = one; return () => [item, same, small]; });
      moving += 1;
      const hide = (value) => [same, value];
      return [calls.map((call) => call()), small + small, large, was, kept, hide(9)];
    };
    export const run = () => outer(5);`,
  );
  t.deepEqual(changed, plain);
  t.notRegex(text, /const (?:small|item) =/);
  for (const name of ["same", "was"]) t.regex(text, new RegExp(`const ${name} =`));
});

test("variables whose lives do not meet are one, the parameter first", async (t) => {
  const { plain, changed, text } = await both(
    share,
    `
    const f = (text) => { const size = text.length; const twice = size * 2; return twice + 1; };
    const g = (list) => { let sum = 0; for (let i = 0; i < list.length; i += 1) { const one = list[i]; const more = one + 1; sum += more; } const end = sum * 2; return { end, sum: 1 }; };
    const h = (a) => { let none; if (a) { none = a; } return none; };
    const k = async (a) => { const b = await a; { const c = b + 1; return [c]; } };
    export const run = async () => [f("abc"), g([1, 2, 3]), h(0), h(2), await k(3)];`,
  );
  t.deepEqual(changed, plain);
  t.notRegex(text, /size|twice|more|end =/);
  t.regex(text, /end: sum/);
  // What waits keeps nothing for longer than before.
  t.regex(text, /\{ const c = /);
});

test("variables stay apart where both are asked for: around a loop, in a function, after a failure", async (t) => {
  const { plain, changed, text } = await both(
    share,
    `
    const loop = (first) => { const all = []; for (let i = 0; i < 3; i += 1) { const one = first + i; all.push(one); const two = one * 2; all.push(two); } return all; };
    const held = (n) => { const get = () => n; const m = get() + 1; return [get(), m]; };
    const failed = (n) => { let at = n; try { const next = at + 1; if (next > 1) throw new Error("far"); at = next; } catch { return at; } return at; };
    const again = () => { let last = 0; const all = []; do { const now = last + 1; all.push(now); last = now * 2; } while (last < 20); return all; };
    const hidden = (a) => { const b = a + 1; { const a = 5; const c = b * a; return c; } };
    const both = (a) => { const { x, y } = a; const [p] = [x]; const q = x + y + p; return [x, q]; };
    const cases = (a) => { switch (a) { case 1: { const b = a; return b; } default: { const c = a + 1; const d = c + a; return d; } } };
    export const run = () => [loop(1), held(1), failed(0), failed(1), again(), hidden(1), both({ x: 1, y: 2 }), cases(1), cases(2)];`,
  );
  t.deepEqual(changed, plain);
  t.regex(text, /const m =/);
  t.regex(text, /\{ let a = 5; a = \(b \* a\)/);
  t.regex(text, /const failed = \(n\) => \{\s+try/);
});

test("a variable that gets a value and is read at once gets it there, and only there", async (t) => {
  const { plain, changed, text } = await both(
    settle,
    `
    let count = 0;
    const next = () => (count += 1);
    class A { n = 1; set(to) { this.n = to; return to; } }
    export const run = () => {
      const all = [];
      let a = 1;
      a = next(); if (a > 0) all.push(a);
      a = next(); all.push({ a });
      a = next(); all.push(a + count, a);
      a = next(); all.push(count, a);
      a = next(); if (all.length > 100 && a) all.push("never");
      a = next(); const b = [a, a]; all.push(b);
      a = next(); try { all.push(a); } catch {}
      a = next(); all.push((a += 1), a);
      const o = new A();
      a = o.set(5); all.push(o.n, a);
      a = next(); { const next = 3; all.push(a, next); }
      a = a + 1; return [all, a];
    };`,
  );
  t.deepEqual(changed, plain);
  t.is(text.match(/\(a = next\(\)\)/g)?.length, 4);
  t.regex(text, /a = o\.set\(5\); all/);
  t.regex(text, /a = next\(\); \{ const next/);
});

test("a function that ends without a value jumps to its end, or comes there", async (t) => {
  const { plain, changed, text } = await both(
    ends,
    `
    const log = [];
    const guards = (a) => { if (!a) return; const b = a.b; if (b === undefined) { return; } if (b > 5 || b < 1) return; log.push(b); };
    const loops = (n) => { for (let i = 0; ; i += 1) { if (i === n) return; if (i > 100) { log.push("far"); return; } } };
    const inner = (n) => { [1].forEach((one) => { if (one === n) return; log.push("each"); }); if (n) { log.push("n"); return; } };
    const tries = (n) => { try { if (n) return; log.push("tried"); } catch { return; } finally { log.push("end"); } log.push("after"); };
    const walks = (n) => { for (const one of new Set([1, 2])) { if (one === n) return; log.push(one); } log.push("walked"); };
    const mixed = (n) => { if (n === 1) return; if (n === 2) return "two"; if (n !== 3) return; return "three"; };
    const chosen = (n) => { switch (n) { case 1: return; case 2: { log.push("case"); return; } } log.push("none"); };
    const waits = async (n) => { if (n === 1) return; await null; if (n === 2) return; return n; };
    function* makes(n) { if (n) return; yield 1; }
    class A { constructor(n) { if (n) return; this.n = 1; } go(n) { if (!n) return; { const guards = n; log.push(guards); } } }
    export const run = async () => {
      const all = [guards(), guards({}), guards({ b: 9 }), guards({ b: 2 }), loops(2), loops(200), inner(0), inner(1)];
      all.push(tries(0), tries(1), walks(1), walks(3), mixed(1), mixed(2), mixed(3), mixed(4), chosen(1), chosen(2), chosen(3));
      all.push(await waits(1), await waits(2), await waits(3), [...makes(0)], [...makes(1)], new A(0).n, new A(1).n, new A().go(0), new A().go(3));
      return [all, log];
    };`,
  );
  t.deepEqual(changed, plain);
  t.regex(text, /guards = \(a\) => \{\$: \{ if \(a\) \{const b/);
  t.regex(text, /if \(i === n\) break \$;/);
  // What a try or an iterator is left by, and a generator, stay as they are.
  t.is(text.match(/return;/g)?.length, 4);
});

test("an empty list is made by its constructor where a function makes it", async (t) => {
  const { plain, changed, text } = await both(
    empties,
    "const none = []; export const run = () => { const all = []; all.push([], [1], none); return all; };",
  );
  t.deepEqual(changed, plain);
  t.regex(text, /none = \[\];.*all = new Array\(\).*\(new Array\(\), \[1\]/);
  const own = "class Array {} export const run = () => [].length + new Array().constructor.length;";
  t.is(empties(own), own);
});

test("a function of one expression stands where it is called, where that takes less", async (t) => {
  const { plain, changed, text } = await both(
    dissolve,
    `
    const log = [];
    const said = (value) => (log.push(value), value);
    const keyOf = (record) => record.key;
    const beside = (key) => { return key + "-old"; };
    const isLow = (code, limit) => { { return code < limit; } };
    const pair = (a, b) => ({ a, b });
    export const run = () => {
      let moving = 1;
      const record = { key: "k", inner: { key: "i" } };
      const all = [keyOf(record), keyOf(said(record)), beside("x"), beside(keyOf(record)), isLow(moving, 2)];
      moving = 5;
      all.push(isLow(moving, 2), isLow(said(1), 2), keyOf(record.inner), pair(moving, 1));
      return [all, log];
    };`,
  );
  t.deepEqual(changed, plain);
  t.notRegex(text, /keyOf|beside|isLow|pair/);
});

test("a function of one expression stays where a value would be another one, another name or asked for later, and where it would take more", async (t) => {
  const { plain, changed, text } = await both(
    dissolve,
    `
    let count = 0;
    const next = () => { count += 1; return count; };
    const twice = (n) => n + n;
    const swapped = (a, b) => [b, a];
    const later = (n) => () => n;
    const chosen = (a, b) => a && b;
    const plus = (n) => n + count;
    const after = (n) => next() + n;
    const mapped = (list, by) => list.map((one) => one * by);
    const passed = (n) => n + 1;
    const few = (a, b) => [a, b];
    const self = (n) => n === 0 ? 0 : self(n - 1);
    const long = (n) => "a long text that is better said once than three times" + n;
    export const run = () => {
      let moving = 1;
      const get = later(moving);
      moving = 2;
      const all = [twice(next()), swapped(next(), next()), get(), chosen(0, next()), [1].map(passed), passed(1), few(1), self(2)];
      const one = 3;
      all.push(mapped([1], one), long(1), long(2), long(3), after(count), { n: ((count) => plus(count))(50) });
      return all;
    };
    export { few };`,
  );
  t.deepEqual(changed, plain);
  for (const name of [
    "twice",
    "swapped",
    "later",
    "chosen",
    "plus",
    "after",
    "mapped",
    "passed",
    "few",
    "self",
    "long",
  ])
    t.regex(text, new RegExp(`const ${name} =`), name);
});

test("variables of functions whose names nothing else has become letters that are free; what names a function stays", async (t) => {
  const { plain, changed, text } = await both(
    letters,
    `
    const b = 5;
    const outer = (first, second) => {
      const third = first + b;
      const inner = (first) => { const deepest = first + third; return { deepest, third }; };
      const { kept, other = 3 } = inner(second);
      try { throw new Error("e"); } catch (caught) { inner(caught.message); }
      return [inner(second), [1, 2].map((item) => item * second), kept, other];
    };
    export const run = () => [outer(1, 2), { second: 1 }.second];`,
  );
  t.deepEqual(changed, plain);
  t.notRegex(text, /first|item|caught/);
  t.regex(text, /const inner = /);
  t.regex(text, /return \{ deepest, third \}/);
  t.regex(text, /other = 3/);
  t.notRegex(text, /const b = \w \+/);
});
