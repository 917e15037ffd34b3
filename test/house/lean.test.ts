import { join } from "node:path";
import { pathToFileURL } from "node:url";
import test from "ava";
import { root } from "./tree.js";

const { lean } = (await import(pathToFileURL(join(root, "scripts/lean.mjs")).href)) as {
  lean(text: string): string;
};

const load = (text: string) => import(`data:text/javascript,${encodeURIComponent(text)}`);

/** What `run` of the text returns, as it is and made lean; and the lean text. */
async function both(text: string): Promise<{ plain: unknown; leaner: unknown; text: string }> {
  const written = lean(text);
  const [plain, leaner] = await Promise.all([load(text), load(written)]);
  return { plain: await plain.run(), leaner: await leaner.run(), text: written };
}

test("a function that is not constructed becomes an arrow, before all that runs", async (t) => {
  const { plain, leaner, text } = await both(`
    const made = twice(4);
    function twice(a, b = half(a)) { return inner() + b; function inner() { return a * 2; } }
    function half(a) { return a / 2; }
    async function later() { return made; }
    export const run = async () => [made, await later()];`);
  t.deepEqual(leaner, plain);
  t.notRegex(text, /function/);
});

test("a function with a this, with arguments, a generator and one that is constructed stay what they are", async (t) => {
  const { plain, leaner, text } = await both(`
    function Point() { this.x = 1; }
    function own() { return this.x; }
    function count() { return arguments.length; }
    function isNew() { return new.target !== undefined; }
    function Empty() {}
    function* two() { yield 1; yield 2; }
    export const run = () => [new Point().x, own.call({ x: 5 }), count(1, 2), isNew(), typeof new Empty(), [...two()]];`);
  t.deepEqual(leaner, plain);
  t.is(text.match(/function/g)?.length, 6);
});

test("fields become the first assignments of the constructor, and without a value they are left out", async (t) => {
  const { plain, leaner, text } = await both(`
    const LIST = [1];
    class A { a = 1; none; b = () => this.a; constructor(c = {}) { this.d = [this.a, this.none, c]; } }
    class B { list = LIST.slice(); }
    class C extends B { own = this.list.length; }
    class D { static s = 3; }
    export const run = () => [new A(7).b(), new A(7).d, new B().list, new C().own, D.s];`);
  t.deepEqual(leaner, plain);
  t.notRegex(text, /none;/);
  t.regex(text, /constructor\(\) ?\{\s*this\.list/);
  t.regex(text, /own = this\.list/);
  t.regex(text, /static s = 3/);
});

test("a constant that is a number is written where it is used, and nowhere else", async (t) => {
  const { plain, leaner, text } = await both(`
    const KIB = 1024, LIMIT = 4 * KIB, LEAST = -1, SHADED = 9, TEXT = "t";
    const inner = (SHADED) => { const all = [SHADED]; return all[0]; };
    export const run = () => [LIMIT, 3 - LEAST, 2 ** LIMIT.toString().length, { LIMIT, KIB: 1 }, { LIMIT: 1 }.LIMIT, inner(2), SHADED, TEXT];`);
  t.deepEqual(leaner, plain);
  t.regex(text, /LIMIT: \(4096\)/);
  t.regex(text, /inner\(2\), SHADED/);
});

test("constants of a module in a function that is called at once are written where they are used, too", (t) => {
  t.regex(lean("(() => {\n  const A = 5;\n  globalThis.f = () => A + 1;\n})();"), /\(5\) \+ 1/);
});

test("rows and objects are taken apart without a pattern, in the same order", async (t) => {
  const { plain, leaner, text } = await both(`
    const log = [];
    const said = (value) => (log.push(value), value);
    const pair = () => [said(3), said(4)];
    export const run = () => {
      const [a, b] = [said(1), said(2)];
      const [c, d] = pair();
      const [e] = pair();
      const { f, g: h } = said({ f: 5, g: 6 });
      const { i } = { i: 7 };
      const whole = { j: 8, k: 9 };
      const { j, k } = whole;
      const [l, ...rest] = [1, 2, 3];
      const { m = 4 } = {};
      let [x, y] = [1, 2];
      [x, y] = [y, x];
      for (const [key, value] of new Map([["n", 1]])) log.push(key + value);
      for (const { o } of [{ o: 1 }]) log.push(o);
      return [log, a, b, c, d, e, f, h, i, j, k, l, rest, m, x, y];
    };`);
  t.deepEqual(leaner, plain);
  t.notRegex(text, /const \[[a-k], |const \{ [f-k]/);
});

test("a list is walked by its index, whatever happens to it meanwhile; anything else by its iterator", async (t) => {
  const { plain, leaner, text } = await both(`
    class A {
      _list = [1, 2]; _map = new Map([[1, 2]]);
      sum() { let sum = 0; for (const one of this._list) { if (one === 2) continue; sum += one; if (this._list.length < 4) this._list.push(5); } return sum; }
      keys() { const all = []; for (const key of Object.keys({ a: 1, b: 2 })) for (const other of [1, 2]) all.push(() => key + other); return all.map((one) => one()); }
      pairs() { const all = []; for (const [k, v] of this._map) all.push(k + v); for (const [k, v] of Object.entries({ c: 3 })) all.push(k + v); return all; }
      copy() { for (const one of this._list.slice()) this._list.push(one); return this._list.length; }
      letters(text) { let all = ""; for (const letter of text) all = letter + all; return all; }
    }
    export const run = () => { const a = new A(); return [a.sum(), a.keys(), a.pairs(), a.copy(), a.letters("ab")]; };`);
  t.deepEqual(leaner, plain);
  t.is(text.match(/ of /g)?.length, 2);
});

test("a text with values in it becomes a sum that is a text", async (t) => {
  const { plain, leaner, text } = await both(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the program has them
    'export const run = () => { const a = 1, b = 2; return [`${a}`, `${a}${b}`, `${a}${b}c`, `x${a}`, `${a}x`, `\\n"${a + b}`, ``, `${a ? `${b}!` : undefined}`]; };',
  );
  t.deepEqual(leaner, plain);
  t.notRegex(text, /`/);
});

test("adding one and returning nothing are said as the engine has them", async (t) => {
  const { plain, leaner, text } = await both(`
    const nothing = (a) => { if (a) return void 0; return 1; };
    const effect = (log) => { return void log.push(1); };
    export const run = () => { const o = { n: 1 }; let i = 5; i -= 1; o.n += 1; const log = []; effect(log); return [i, o.n, (o.n += 1), nothing(1), nothing(0), log]; };`);
  t.deepEqual(leaner, plain);
  t.regex(text, /return;/);
  t.regex(text, /\+\+o\.n/);
});

test("what it does not know is refused", (t) => {
  t.throws(() => lean("export const run = (tag) => tag`a`;"), { message: /tagged template/ });
  t.throws(() => lean("const = 1;"));
});

test("a function that is called at one place stands there itself, whatever it does with its value", async (t) => {
  const { plain, leaner, text } = await both(`
    function returned(a, b) { if (a > b) return a; for (const one of [1, 2]) if (one === b) return "loop"; }
    function dropped(log, n) { if (n === 0) return; log.push(n); }
    function kept(n) { if (n < 0) return "below"; const twice = n * 2; return twice > 10 ? "big" : twice; }
    const short = (n) => n + 1;
    function last(n) { if (n > 100) return nested(n); return n; }
    function nested(n) { if (n > 1000) return "huge"; return "large"; }
    function wrapped(n) { return inner(n); }
    function inner(n) { if (n > 5) return "over"; return "under"; }
    async function awaited(n) { const one = await n; if (one === 3) return "three"; return one + 1; }
    async function told(log) { await null; log.push("told"); }
    export const run = async () => {
      const log = [];
      const all = [];
      for (const n of [-1, 0, 3, 7, 500, 5000]) {
        const value = kept(n);
        const more = short(n);
        const end = last(n);
        const side = wrapped(n);
        const later = await awaited(n);
        dropped(log, n);
        all.push(value, more, end, later, side);
      }
      await told(log);
      const outer = (a, b) => { if (a === 9) return "nine"; if (a) return returned(a, b); return 0; };
      return [all, log, outer(9, 0), outer(3, 2), outer(1, 2), outer(1, 5), outer(0, 0)];
    };`);
  t.deepEqual(leaner, plain);
  t.notRegex(text, /returned|dropped|kept|wrapped|inner|short|last|nested|awaited|told\(/);
});

test("a method that is called at one place stands there itself, with its object", async (t) => {
  const { plain, leaner, text } = await both(`
    class A {
      _n = 2;
      run() { const inner = this._inner(3); this._add(inner); return this._end(); }
      _inner(by) { if (by > 5) return 0; return [1].map((one) => one * by * this._n)[0]; }
      _add(n) { this._n += n; }
      _end() { if (this._n > 100) return "far"; return this._n; }
      later() { return { _n: 5, get() { return this._n; } }; }
    }
    export const run = () => { const a = new A(); return [a.run(), a.later().get(), a.run(), a.run(), a.run()]; };`);
  t.deepEqual(leaner, plain);
  t.notRegex(text, /_inner|_add|_end/);
});

test("a function stays where its names would mean something else, or where it is more than one call", async (t) => {
  const { plain, leaner, text } = await both(`
    function swapped(a, b) { const all = [a, b]; return all[0] - all[1]; }
    function hidden(n) { const one = n + 1; return one; }
    function value(n) { const taken = n; return taken; }
    function twice(n) { return n; }
    function passed(n) { return n * 2; }
    function self(n) { return n === 0 ? 0 : self(n - 1); }
    function few(a, b) { return [a, b]; }
    function many(...all) { return all; }
    function fallback(a = 1) { return a; }
    function* gen() { yield 1; }
    async function loose(log) { await null; log.push("late"); }
    async function promised() { return 1; }
    class A { _shared() { return 1; } go() { return this._shared(); } _own() { return "class"; } other() { const o = { f() { return this._own(); } }; o["_own"] = () => "object"; return o.f(); } }
    class B extends A { _shared() { return 2; } }
    export const run = async () => {
      const a = 1, b = 2, one = 5;
      const swap = (a, b) => { return swapped(b, a); };
      const hide = () => { const out = hidden(one); return out; };
      const take = () => { const taken = value(4); return taken; };
      const log = [];
      loose(log);
      log.push("first");
      const p = promised();
      const lacking = few(1);
      const rest = many(1, 2);
      const standard = fallback();
      const made = [...gen()];
      await p; await null; await null;
      return [swap(a, b), hide(), take(), twice(1) + twice(2), [1, 2].map(passed), self(3), lacking, rest, standard, made, log, typeof p.then, new A().go(), new A().other(), new B().go()];
    };`);
  t.deepEqual(leaner, plain);
  for (const name of [
    "swapped",
    "twice",
    "passed",
    "self",
    "few",
    "many",
    "fallback",
    "gen",
    "loose",
    "promised",
    "_shared",
  ])
    t.regex(text, new RegExp(name));
});

test("a function that is one expression stands for its only call anywhere, with what it was given", async (t) => {
  const { plain, leaner, text } = await both(`
    const isSmall = (n) => n < 10 && n >= 0;
    const nameOf = (thing) => ({ name: thing.name, own: thing });
    const text = (value) => { return "<" + value + ">"; };
    const each = (list, by) => list.map((one) => one * by);
    const early = (value) => value ?? "none";
    let cache;
    const lazy = () => cache ??= { made: 1 };
    export const run = () => {
      const all = [];
      for (const n of [-1, 3, 30]) { if (isSmall(n)) all.push(n); else all.push(text(n ? n + 1 : 0)); }
      const thing = { name: "x" };
      const by = 3;
      return [all, nameOf(thing).own.name, each([1, 2], by), early(thing.none ? 1 : null), lazy().made, cache];
    };`);
  t.deepEqual(leaner, plain);
  t.notRegex(text, /isSmall|nameOf|text\(|early|lazy/);
});

test("a function of one expression stays where what it was given may be another value by then, or another name", async (t) => {
  const { plain, leaner, text } = await both(`
    let counter = 0;
    const next = () => { counter += 1; return counter; };
    const after = (n) => next() + n;
    const both = (a, b) => [b, a];
    const shadow = (all, one) => all.map((item) => item + one);
    const list = [1];
    const twice = (n) => n + n;
    export const run = () => {
      let moving = 1;
      const item = 7;
      const sum = () => [after(counter)];
      moving = 2;
      return [sum(), [both(next(), next())], [shadow(list, item)], [twice(next())], moving];
    };`);
  t.deepEqual(leaner, plain);
  for (const name of ["after", "both", "shadow", "twice"]) t.regex(text, new RegExp(`const ${name} =`));
});

test("what an async function returns is waited for where it stands then", async (t) => {
  const { plain, leaner, text } = await both(`
    const slow = async (n) => { await null; if (n === 5) throw new Error("five"); return n; };
    async function chosen(n) { switch (n) { case 1: return slow(10); case 2: return n; case 3: return n ? slow(n) : 0; } return slow(5); }
    async function guarded(n) { return slow(n); }
    async function outer(n) { const first = await chosen(n); return first + 1; }
    export const run = async () => {
      const all = [];
      for (const n of [1, 2, 3]) { const value = await outer(n); all.push(value); }
      const tried = async (n) => { try { return await guarded(n); } catch (error) { return error.message; } };
      return [all, await tried(4), await tried(5)];
    };`);
  t.deepEqual(leaner, plain);
  t.notRegex(text, /chosen|guarded|outer/);
});

test("a parameter that is changed is a variable of its own", async (t) => {
  const { plain, leaner } = await both(`
    function down(n) { let sum = 0; while (n > 0) { sum += n; n -= 1; } return sum; }
    function up(k) { let all = 0; while (k < 5) { all += k; k += 1; } return all; }
    export const run = () => { const go = (n) => { const down1 = down(n); const up1 = up(n); return [down1, up1, n]; }; return go(3); };`);
  t.deepEqual(leaner, plain);
});

test("conditions and branches are said without values that are kept for them", async (t) => {
  const { plain, leaner, text } = await both(`
    const f = (a, b, c) => { if (a && b && c) return "all"; else if (a && b) { return "two"; } if (a || b) return a ? "a" : b ? "b" : "none"; return void 0; };
    const g = (a, b) => { if (a && b) if (a > b) return 1; else return 2; return 3; };
    export const run = () => { const all = []; for (const a of [0, 1]) for (const b of [0, 1]) for (const c of [0, 1]) all.push(f(a, b, c), g(a, b + c)); return all; };`);
  t.deepEqual(leaner, plain);
  t.notRegex(text, /\?/);
});

test("a loop's variable is a new one each time only where a function takes hold of it", async (t) => {
  const { plain, leaner, text } = await both(`
    export const run = () => {
      const all = [];
      for (let i = 0, n = 3; i < n; i += 1) { if (i === 1) continue; all.push(i); }
      for (let i = 0; i < 3; i++) all.push(() => i);
      for (let i = 9; ; ) { if (i < 5) break; i -= 1; }
      return all.map((one) => (typeof one === "function" ? one() : one));
    };`);
  t.deepEqual(leaner, plain);
  t.is(text.match(/for \(let/g)?.length, 1);
});

test("fields with the same plain value get it at once, others each their own", async (t) => {
  const { plain, leaner, text } = await both(`
    class A { a = 0; list = []; b = 0; other = []; c = false; d = ""; e = -1; f = false; }
    export const run = () => { const a = new A(); a.list.push(1); return { ...a }; };`);
  t.deepEqual(leaner, plain);
  t.regex(text, /this\.a = this\.b = 0/);
});

test("a function that is called at once does not hide what becomes of its value by a name of an inner block", async (t) => {
  const { plain, leaner } = await both(`
    const ask = async (list) => {
      for (const one of list) {
        const answer = await one();
        if (answer.kind === "done") return answer;
      }
      throw new Error("none");
    };
    export const run = async () => {
      const answer = await ask([async () => ({ kind: "lost" }), async () => ({ kind: "done", text: "yes" })]);
      return answer.text;
    };`);
  t.deepEqual([plain, leaner], ["yes", "yes"]);
});
