// A process of mutants-sample.mjs: loads test files once, in the place of AVA, and runs single tests of them, with this mutant switched on or that.

import { register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

const hook = `export const resolve = (name, context, next) =>
  name === "ava" ? { url: ${JSON.stringify(import.meta.url)}, shortCircuit: true } : next(name, context);`;
const tests = new Map();
const namespace = {};
globalThis.__stryker__ = namespace;
let file = "";
/** Ends the test that runs. */
let fail = () => {};

export default function test(title, run) {
  tests.set(`${file}: ${title}`, run);
}
test.serial = test;

const isLike = (value, wanted) =>
  typeof wanted === "object" && wanted !== null
    ? typeof value === "object" &&
      value !== null &&
      Object.keys(wanted).every((key) => isLike(value[key], wanted[key]))
    : Object.is(value, wanted);

function checkThrown(error, wanted = {}) {
  const { message, ...rest } = wanted;
  const said =
    message instanceof RegExp
      ? message.test(error?.message)
      : message === undefined || message === error?.message;
  if (!(error instanceof Error) || !said || !isLike(error, rest)) throw new Error("not as expected");
  return error;
}

/** What tests of this project use of AVA's assertions. */
function contextOf(title, teardowns, failed) {
  const check = (good, what) => {
    if (good) return true;
    const error = new Error(`${what} failed`);
    failed(error);
    throw error;
  };
  const caught = (error, wanted) => {
    try {
      return checkThrown(error, wanted);
    } catch {
      return check(false, "throws");
    }
  };
  return {
    title,
    log() {},
    timeout() {},
    pass: () => true,
    fail: () => check(false, "fail"),
    teardown: (end) => void teardowns.unshift(end),
    is: (value, wanted) => check(Object.is(value, wanted), "is"),
    not: (value, wanted) => check(!Object.is(value, wanted), "not"),
    true: (value) => check(value === true, "true"),
    false: (value) => check(value === false, "false"),
    truthy: (value) => check(Boolean(value), "truthy"),
    deepEqual: (value, wanted) => check(isDeepStrictEqual(value, wanted), "deepEqual"),
    like: (value, wanted) => check(isLike(value, wanted), "like"),
    regex: (text, pattern) => check(pattern.test(text), "regex"),
    notRegex: (text, pattern) => check(!pattern.test(text), "notRegex"),
    throws(run, wanted) {
      try {
        run();
      } catch (error) {
        return caught(error, wanted);
      }
      return check(false, "throws");
    },
    async throwsAsync(run, wanted) {
      try {
        await (typeof run === "function" ? run() : run);
      } catch (error) {
        return caught(error, wanted);
      }
      return check(false, "throwsAsync");
    },
    notThrows: (run) => run(),
  };
}

/** True if it passed. */
async function passes(key) {
  const teardowns = [];
  let error;
  const failed = (what) => {
    error ??= what;
  };
  const broken = new Promise((_, reject) => {
    fail = (what) => {
      failed(what);
      reject(what);
    };
  });
  // With nothing left to do it would end: a test that waits for ever is found by that.
  process.channel.unref();
  try {
    await Promise.race([tests.get(key)(contextOf(key, teardowns, failed)), broken]);
    for (const end of teardowns) await Promise.race([end(), broken]);
  } catch (what) {
    failed(what);
  }
  process.channel.ref();
  fail = () => {};
  return error === undefined;
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function load(files) {
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
  for (const path of ["../seed.js", ...files]) {
    file = path;
    await import(
      pathToFileURL(join(process.cwd(), path === "../seed.js" ? "dist/test/seed.js" : `dist/test/${path}`))
    );
  }
  return { keys: [...tests.keys()], hits: namespace.mutantCoverage?.static ?? {} };
}

/** What one test reaches: mutants with their hits. */
async function cover(key) {
  const begun = cpuMs();
  namespace.currentTestId = key;
  const passed = await passes(key);
  const hits = namespace.mutantCoverage?.perTest?.[key] ?? {};
  namespace.currentTestId = undefined;
  return { key, passed, ms: cpuMs() - begun, hits };
}

/** The first test that sees the mutant; undefined if none does within `mostMs`. */
async function kill({ id, keys, hitLimit, mostMs }) {
  const begun = cpuMs();
  for (const key of keys) {
    Object.assign(namespace, { activeMutant: id, hitCount: 0, hitLimit });
    const passed = await passes(key);
    namespace.activeMutant = undefined;
    if (!passed) return { killer: key };
    if (cpuMs() - begun > mostMs) break;
  }
  return {};
}

if (process.send) {
  if (process.env.MUTANT) Object.assign(namespace, { activeMutant: process.env.MUTANT });
  for (const event of ["unhandledRejection", "uncaughtException"]) process.on(event, (error) => fail(error));
  process.on("beforeExit", () => fail(new Error("it waits for ever")));
  process.on("message", async ({ does, ...job }) => {
    const done =
      does === "load" ? await load(job.files) : does === "cover" ? await cover(job.key) : await kill(job);
    process.send(done);
  });
  process.on("disconnect", () => process.exit());
}
