// The RPC `mote.wifi`: a board tries another Wi-Fi, and has one that works however that ends.
import test, { type ExecutionContext } from "ava";
import type { Application } from "../../../hosts/device/application.js";
import type { Network } from "../../../hosts/esp32/network/wifi.js";
import { BUILT, NO_NETWORK, SOFTWARE, WRONG_PASSWORD } from "./board.js";
import { HOME, PRODUCT, rig, sampling } from "./rig.js";

const SECURE = { ...PRODUCT, baseUrl: "https://platform.test" };
const NEW = { ssid: "moved", password: "another horse" };
const joinOf = ({ ssid, password }: Network) => ({ SSID: ssid, ...(password !== undefined && { password }) });

/**
 * A board in the Wi-Fi "home" that hears "moved" as well; the platform answers in the networks of
 * `ways`.
 */
async function online(
  t: ExecutionContext,
  wifi: Network = HOME,
  more: Record<string, unknown> = {},
  application: Application = sampling,
) {
  const all = rig(t, { ...SECURE, ...more, wifi });
  const { board, platform, boot, device } = all;
  const ways = new Set([HOME.ssid, NEW.ssid]);
  const near = new Set([HOME.ssid, NEW.ssid]);
  board.hears = ({ SSID, password }) => {
    const found = [HOME, NEW].find(({ ssid }) => ssid === SSID && near.has(ssid));
    if (!found) return NO_NETWORK;
    if (found.password !== password) return WRONG_PASSWORD;
    if (board.joined !== SSID)
      for (const peer of board.net.peers) Object.assign(peer, { send: () => {}, onData: undefined });
    return 0;
  };
  const serves = board.net.onConnect;
  board.net.onConnect = (peer) => {
    if (ways.has(board.joined)) return serves?.(peer);
    if (board.joined === "") peer.reset("no route");
    return false;
  };
  boot(application);
  await board.clock.advance(20_000);
  const ask = async (params: unknown): Promise<unknown> => {
    const learnt = platform.rpc(device(), "mote.wifi", params);
    await board.clock.runUntil(() => learnt.length > 0, 30_000);
    const [result] = learnt;
    return result?.kind === "answer" ? JSON.parse(result.text) : result;
  };
  /** A start, after which the board has joined what it can. */
  const restart = async (ms = 10_000): Promise<unknown> => {
    boot(undefined, SOFTWARE);
    await board.clock.advance(ms);
    return board.joins.at(-1);
  };
  /** All that leaves the board, but what it sends to be kept secret. */
  const shown = (): string => JSON.stringify([platform.attributes(device()), board.lines]);
  const published = () => platform.attributes(device()).moteWifi;
  return { ...all, ways, near, ask, restart, shown, published };
}

test("keeps another Wi-Fi that leads to the platform, also over a restart, and loses no point", async (t) => {
  const { board, ask, restart, values, published } = await online(t);
  t.deepEqual(await ask(NEW), { trial: "begins", seconds: 300 });
  await board.clock.advance(120_000);
  t.is(published(), "kept");
  board.time = BUILT + 2000;
  t.deepEqual(board.joins.at(-1), joinOf(NEW));
  t.deepEqual(await restart(), joinOf(NEW));
  t.is(values("n").length, 2);
});

for (const [what, given, why] of [
  ["a wrong password", { ...NEW, password: "wrong horse" }, "the Wi-Fi's password is wrong"],
  [
    "an access point that is not there",
    { ssid: "nowhere" },
    "no Wi-Fi with this name in range; the device supports 2.4 GHz only",
  ],
  ["a Wi-Fi that leads nowhere", NEW, "the Wi-Fi was joined, but the platform was not reached"],
  ["a Wi-Fi that can't be stored", NEW, "the Wi-Fi could not be stored"],
] as const)
  test(`${what}: the Wi-Fi before is joined again, and the operator reads why`, async (t) => {
    const { board, ask, restart, ways, shown, published } = await online(t);
    if (/nowhere/.test(what)) ways.delete(NEW.ssid);
    await ask(given);
    t.regex(JSON.stringify(await ask(NEW)), /another Wi-Fi is on trial/);
    if (/stored/.test(what)) board.refused = "wifi";
    await board.clock.advance(7 * 60_000);
    t.is(published(), `not kept: ${why}`);
    t.deepEqual(board.joins.at(-1), joinOf(HOME));
    t.false(shown().includes("horse"));
    t.deepEqual(await restart(), joinOf(HOME));
  });

test("a power loss at any moment of a Wi-Fi change leaves the board a network that works", async (t) => {
  for (const [given, moments] of [
    [NEW, [0, 2000, 3100, 3700, 5000, 8100, 9000, 20_000]],
    [{ second: NEW }, [0, 50, 200, 1000]],
  ] as const)
    for (const ms of moments) {
      const { board, platform, boot, device, ways } = await online(t);
      if (given === NEW) ways.delete(NEW.ssid);
      const learnt = platform.rpc(device(), "mote.wifi", given);
      if (given === NEW) await board.clock.runUntil(() => learnt.length > 0, 30_000);
      await board.clock.advance(ms);
      board.powerOff();
      boot();
      await board.clock.advance(15_000);
      t.deepEqual(board.joins.at(-1), joinOf(HOME), `after ${ms} ms`);
    }
});

test("what can't be a Wi-Fi is refused, and changes nothing", async (t) => {
  const { board, ask } = await online(t);
  const joins = board.joins.length;
  for (const [params, reason] of [
    [{ ssid: "" }, /BAD_PARAMS.*1 to 32 bytes/],
    [{ ssid: "moved", password: "short" }, /BAD_PARAMS.*8 to 63 bytes/],
    [{ second: { ssid: "" } }, /BAD_PARAMS.*1 to 32 bytes/],
    [null, /BAD_PARAMS/],
  ] as const)
    t.regex(JSON.stringify(await ask(params)), reason);
  await board.clock.advance(10_000);
  t.is(board.joins.length, joins);
});

/** Whether it is in reach is not asked: it may be a router that is not switched on yet. */
test("stores a second Wi-Fi without a trial, joins it without the first, and hides its password", async (t) => {
  const { board, ask, restart, values, near, shown } = await online(t);
  const joins = board.joins.length;
  t.deepEqual(await ask({ second: NEW }), { second: "kept" });
  await board.clock.advance(10_000);
  t.is(board.joins.length, joins, "it stays where it is");
  near.delete(HOME.ssid);
  board.time = BUILT + 2000;
  await restart(75_000);
  t.deepEqual(board.joins.slice(-2), [joinOf(HOME), joinOf(NEW)]);
  t.is(values("n").length, 2);
  t.false(shown().includes("horse"));
});

test("a second Wi-Fi can be forgotten, also one that was built in", async (t) => {
  const { board, ask, restart, near } = await online(t, { ...HOME, second: NEW });
  board.refused = "wifi";
  t.regex(JSON.stringify(await ask({ second: null })), /could not be stored/);
  board.refused = undefined;
  near.delete(HOME.ssid);
  t.deepEqual(await restart(60_000), joinOf(NEW));
  t.deepEqual(await ask({ second: null }), { second: "forgotten" });
  await restart(60_000);
  t.deepEqual([...new Set(board.joins.slice(-3).map(({ SSID }) => SSID))], [HOME.ssid]);
});

test("a trial leaves the second Wi-Fi as it is, and is not helped by it", async (t) => {
  const { board, ask, restart, published, near } = await online(t);
  await ask({ second: { ssid: "shed" } });
  await ask(NEW);
  t.regex(JSON.stringify(await ask({ second: null })), /another Wi-Fi is on trial/);
  await board.clock.advance(120_000);
  t.is(published(), "kept");
  near.clear();
  await restart(20_000);
  t.deepEqual([...new Set(board.joins.slice(-2).map(({ SSID }) => SSID))].sort(), [NEW.ssid, "shed"]);
});

test("over http another Wi-Fi is taken from nobody who does not know the device's token", async (t) => {
  const { board, ask, device, published, shown } = await online(t, HOME, PRODUCT);
  const joins = board.joins.length;
  const token = device().credentials.credentialsId;
  for (const params of [NEW, { ...NEW, token: "" }, { ...NEW, token: `${token}x` }, { second: NEW }])
    t.regex(JSON.stringify(await ask(params)), /BAD_PARAMS.*over http the Wi-Fi's owner can read the token/);
  await board.clock.advance(10_000);
  t.is(board.joins.length, joins);
  t.deepEqual(await ask({ second: NEW, token }), { second: "kept" });
  t.deepEqual(await ask({ ...NEW, token }), { trial: "begins", seconds: 300 });
  await board.clock.advance(120_000);
  t.is(published(), "kept");
  t.false(shown().includes(token));
});
