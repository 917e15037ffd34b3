import test from "ava";
import { problemsOf } from "../../../tools/moddable/esp32/config-check.js";

const C3 = 5;
const GOOD = {
  wifi: { ssid: "home", password: "correct horse" },
  baseUrl: "http://platform.test",
  provisioning: { key: "key", secret: "secret" },
};
const PLAIN = { lean: false, asks: false };

test("a configuration that a board starts with has no problem, and what its owner will give may be left out", (t) => {
  t.deepEqual(problemsOf(GOOD, C3, PLAIN), []);
  t.deepEqual(problemsOf({ ...GOOD, commission: { button: 4 } }, C3, { lean: false, asks: true }), []);
  t.deepEqual(problemsOf({}, C3, { lean: false, asks: true }), []);
  t.deepEqual(
    problemsOf({ wifi: { ssid: "" }, provisioning: { key: "" } }, C3, { lean: false, asks: true }),
    [],
  );
});

for (const [what, config, how, expected] of [
  ["a short password", { ...GOOD, wifi: { ssid: "home", password: "123" } }, PLAIN, /config\.wifi\.password/],
  ["a long name of a network", { ...GOOD, wifi: { ssid: "x".repeat(40) } }, PLAIN, /config\.wifi\.ssid/],
  [
    "updates in a lean build",
    { ...GOOD, firmware: { title: "a", version: "1" } },
    { lean: true, asks: false },
    /the lean build has no firmware/,
  ],
  ["no way to the platform", {}, PLAIN, /there is no network, no platform/],
  ["an option that is none", { ...GOOD, rpc: { answerBytes: -1 } }, PLAIN, /rpc\.answerBytes/],
  [
    "a pin of the flash",
    { ...GOOD, commission: { button: 12 } },
    { lean: false, asks: true },
    /pin 12 belongs to the flash/,
  ],
  [
    "one that is left empty beside a wrong one",
    { wifi: { ssid: "" }, firmware: { title: "" } },
    { lean: false, asks: true },
    /firmware\.title/,
  ],
] as const)
  test(`a build names ${what}`, (t) => {
    const problems = problemsOf(config, C3, how);
    t.is(problems.length, 1, problems.join(" | "));
    t.regex(problems[0]!, expected);
  });

test("no secret is quoted", (t) => {
  const said = problemsOf(
    { ...GOOD, wifi: { ssid: "home", password: "hush" }, token: "to\nken" },
    C3,
    PLAIN,
  ).join();
  t.false(/hush|to\nken/.test(said), said);
});
