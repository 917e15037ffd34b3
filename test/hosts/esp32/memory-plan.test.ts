import test from "ava";
import { readConfig } from "../../../hosts/esp32/config.js";
import { planMemory, type Shares, SMALLEST } from "../../../hosts/esp32/memory-plan.js";
import { CHIPS } from "../../../tools/moddable/esp32/chips.js";
import { read } from "../../architecture/tree.js";

const sum = (shares: Shares): number => shares.reduce((all, [, bytes]) => all + bytes, 0);

test("what is planned is all that there is, and nothing is planned that is not there", (t) => {
  for (const { name, engine, heap } of CHIPS) {
    const pools = { engine, system: heap - engine };
    const plan = planMemory(pools);
    t.is(sum(plan.engine), pools.engine, name);
    t.is(sum(plan.system), pools.system, name);
    for (const [what, bytes] of plan.engine) t.true(bytes > 0, `${name}: ${what}`);
    const { requestBytes, answerBytes, attributeBytes } = plan.limits;
    t.true(8 * Math.max(requestBytes, answerBytes, attributeBytes / 2) <= plan.engine.at(-1)![1], name);
  }
});

test("the smallest pools are those of an ESP32-C3", (t) => {
  const c3 = CHIPS.find(({ name }) => name === "esp32c3")!;
  t.deepEqual(SMALLEST, { engine: c3.engine, system: c3.heap - c3.engine });
});

test("the limits of each chip are those of docs/board.md", (t) => {
  const page = read("docs/board.md");
  for (const { name, engine, heap } of CHIPS) {
    const { requestBytes, answerBytes, attributeBytes, connections } = planMemory({
      engine,
      system: heap - engine,
    }).limits;
    const row = `| ${name} | ${[requestBytes, answerBytes, attributeBytes].map((one) => one.toLocaleString("en")).join(" | ")} | ${connections} |`;
    t.true(page.includes(row), row);
  }
});

test("more memory makes room for longer texts, and what the configuration names it gets", (t) => {
  const config = { baseUrl: "http://platform.test", wifi: { ssid: "home" } };
  const { limits } = planMemory({ engine: 139_264, system: 200_000 });
  const settings = readConfig(config, limits);
  const named = readConfig({ ...config, rpc: { answerBytes: 512 } }, limits);
  if (Array.isArray(settings) || Array.isArray(named)) return t.fail();
  t.deepEqual(settings.options.rpc, { requestBytes: 4096, answerBytes: 4096 });
  t.deepEqual(settings.options.attributes, { answerBytes: 8192 });
  t.deepEqual(named.options.rpc, { requestBytes: 4096, answerBytes: 512 });
});

test("where the system's heap has room for one TLS connection, there is one", (t) => {
  const { limits } = planMemory({ ...SMALLEST, system: 120_000 });
  t.is(limits.connections, 1);
  const settings = readConfig({ baseUrl: "https://platform.test", wifi: { ssid: "home" } }, limits);
  t.is(Array.isArray(settings) ? undefined : settings.options.connections, 1);
});
