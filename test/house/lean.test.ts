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
    const inner = (SHADED) => SHADED;
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
