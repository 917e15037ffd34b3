import { join } from "node:path";
import { pathToFileURL } from "node:url";
import test from "ava";
import { root } from "./tree.js";

const shorten = async (code: string): Promise<string> => {
  const { shortenPrivateNames } = await import(pathToFileURL(join(root, "scripts/private-names.mjs")).href);
  return shortenPrivateNames(code);
};

test("private fields share short names, from the first in each class", async (t) => {
  t.is(
    await shorten(
      "class A { constructor(b) { this._left = b; this._right = b._left; } }\nclass B { at() { return this._up; } }",
    ),
    "class A { constructor(b) { this._1 = b; this._2 = b._1; } }\nclass B { at() { return this._1; } }",
  );
});

test("names that a crash report shows, and fields that others use, stay", async (t) => {
  for (const code of [
    "class A { _run() { return this._run; } }",
    "class A { at() { return this._left; } }\nconst left = (a) => a._left;",
    "class A { at() { return this._left; } }\nclass B { at(a) { return a._left; } }",
    "class A { at() { return this._left; } }\nconst left = ({ _left }) => _left;",
    "class A extends B { at() { return this._left; } }\nclass B { at() { return this._left; } }",
    'class A { at() { return this["_left"]; } }',
  ])
    t.is(await shorten(code), code);
});
