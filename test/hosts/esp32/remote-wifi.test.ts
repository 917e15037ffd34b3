// The RPC `mote.wifi`: a board takes another Wi-Fi on trial, and has one that works however that ends.
import test, { type ExecutionContext } from "ava";
import type { Network } from "../../../hosts/esp32/network/wifi.js";
import type { Application } from "../../../hosts/shared/application.js";
import { BUILT } from "./board.js";
import { HOME, NAME, PRODUCT, rig, SOFTWARE, sampling } from "./commissioning-rig.js";

const SECURE = { ...PRODUCT, baseUrl: "https://platform.test" };
const NEW = { ssid: "moved", password: "another horse" };
const [WRONG_PASSWORD, NO_NETWORK] = [15, 201];

/** A board in the Wi-Fi "home" that hears "moved" as well; the platform answers in the networks of `ways`. */
async function online(
  t: ExecutionContext,
  wifi: Network = HOME,
  more: Record<string, unknown> = {},
  application: Application = sampling,
) {
  const all = rig(t, { ...SECURE, ...more, wifi });
  const { board, platform, boot } = all;
  const known = [HOME, NEW];
  const ways = new Set([HOME.ssid, NEW.ssid]);
  const near = new Set([HOME.ssid, NEW.ssid]);
  let joined = "";
  board.onRadio = (radio) => {
    radio.onConnect = () =>
      void board.clock.timer(500, () => {
        if (radio.connection !== 300) return;
        const { SSID, password } = radio.asked.at(-1) ?? { SSID: "" };
        const found = known.find(({ ssid }) => ssid === SSID && near.has(ssid));
        board.reason = !found ? NO_NETWORK : found.password === password ? 0 : WRONG_PASSWORD;
        if (board.reason === 0 && joined !== SSID)
          for (const peer of board.net.peers) Object.assign(peer, { send: () => {}, onData: undefined });
        if (board.reason === 0) joined = SSID;
        radio.become(board.reason === 0 ? 500 : 200);
      });
  };
  const serves = board.net.onConnect;
  board.net.onConnect = (peer) => {
    if (ways.has(joined)) return serves?.(peer);
    if (joined === "") peer.reset("no route");
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
  const device = () => platform.device(NAME);
  return { ...all, ways, near, ask, device, published: () => platform.attributes(device()).moteWifi };
}

test("another Wi-Fi that leads to the platform is kept, also over a restart, and no point is lost on the way", async (t) => {
  const { board, platform, boot, ask, device, published } = await online(t);
  t.deepEqual(await ask(NEW), { trial: "begins", seconds: 300 });
  await board.clock.advance(120_000);
  t.is(published(), "kept");
  board.time = BUILT + 2000;
  t.deepEqual(board.joins.at(-1), { SSID: NEW.ssid, password: NEW.password });
  boot(undefined, SOFTWARE);
  await board.clock.advance(10_000);
  t.deepEqual(board.joins.at(-1), { SSID: NEW.ssid, password: NEW.password });
  t.is(platform.points(device(), "n").length, 2);
});

for (const [what, given, why, prepare] of [
  ["a wrong password", { ...NEW, password: "wrong horse" }, "the Wi-Fi's password is wrong", undefined],
  [
    "an access point that is not there",
    { ssid: "nowhere" },
    "no Wi-Fi of this name is near; this device hears 2.4 GHz only",
    undefined,
  ],
  [
    "a Wi-Fi that leads nowhere",
    NEW,
    "the Wi-Fi was joined, but the platform was not reached",
    (ways: Set<string>) => ways.delete(NEW.ssid),
  ],
] as const)
  test(`${what}: the Wi-Fi before is joined again, and the operator reads why`, async (t) => {
    const { board, platform, boot, ask, ways, device, published } = await online(t);
    const before = board.nvsWrites;
    prepare?.(ways);
    await ask(given);
    await board.clock.advance(7 * 60_000);
    t.is(published(), `not kept: ${why}`);
    t.deepEqual(board.joins.at(-1), { SSID: HOME.ssid, password: HOME.password });
    t.false(board.lines.some((line) => line.includes("horse")));
    t.false(JSON.stringify(platform.attributes(device())).includes("horse"));
    t.true(board.nvsWrites > before);
    boot(undefined, SOFTWARE);
    await board.clock.advance(10_000);
    t.deepEqual(board.joins.at(-1), { SSID: HOME.ssid, password: HOME.password });
  });

test("the power goes at any moment of a trial: the board has a Wi-Fi that works", async (t) => {
  for (const ms of [0, 2000, 3100, 3700, 5000, 8100, 9000, 20_000]) {
    const { board, boot, ask, ways } = await online(t);
    ways.delete(NEW.ssid);
    await ask(NEW);
    await board.clock.advance(ms);
    board.powerOff();
    boot();
    await board.clock.advance(15_000);
    t.deepEqual(board.joins.at(-1), { SSID: HOME.ssid, password: HOME.password }, `after ${ms} ms`);
  }
});

test("what can't be a Wi-Fi is refused, and so is a second one during a trial", async (t) => {
  const { board, ask } = await online(t);
  const joins = board.joins.length;
  t.regex(JSON.stringify(await ask({ ssid: "" })), /BAD_PARAMS.*1 to 32 bytes/);
  t.regex(JSON.stringify(await ask({ ssid: "moved", password: "short" })), /BAD_PARAMS.*8 to 64 bytes/);
  t.regex(JSON.stringify(await ask(null)), /BAD_PARAMS/);
  await board.clock.advance(10_000);
  t.is(board.joins.length, joins);
  await ask({ ...NEW, password: "wrong horse" });
  t.regex(JSON.stringify(await ask(NEW)), /another Wi-Fi is on trial/);
});

test("a Wi-Fi that can't be stored is left again", async (t) => {
  const { board, ask, published } = await online(t);
  await ask(NEW);
  board.refused = "wifi";
  await board.clock.advance(120_000);
  t.is(published(), "not kept: the Wi-Fi could not be stored");
  t.deepEqual(board.joins.at(-1), { SSID: HOME.ssid, password: HOME.password });
});

/** Whether it is in reach is not asked: it may be a router that is not switched on yet. */
test("a second Wi-Fi is kept without a trial, is joined when the first is gone, and its password is shown nowhere", async (t) => {
  const { board, platform, boot, ask, device, near } = await online(t);
  const joins = board.joins.length;
  t.deepEqual(await ask({ second: NEW }), { second: "kept" });
  await board.clock.advance(10_000);
  t.is(board.joins.length, joins, "it stays where it is");
  near.delete(HOME.ssid);
  board.time = BUILT + 2000;
  boot(undefined, SOFTWARE);
  await board.clock.advance(75_000);
  t.deepEqual(board.joins.slice(-2), [
    { SSID: HOME.ssid, password: HOME.password },
    { SSID: NEW.ssid, password: NEW.password },
  ]);
  t.is(platform.points(device(), "n").length, 2);
  t.false(board.lines.some((line) => line.includes("horse")));
  t.false(JSON.stringify(platform.attributes(device())).includes("horse"));
});

test("a second Wi-Fi can be forgotten, also one that was built in; what can't be one, or stored, is refused", async (t) => {
  const { board, boot, ask, near } = await online(t, { ...HOME, second: NEW });
  t.regex(JSON.stringify(await ask({ second: { ssid: "" } })), /BAD_PARAMS.*1 to 32 bytes/);
  t.regex(JSON.stringify(await ask({ second: 1 })), /BAD_PARAMS/);
  board.refused = "wifi";
  t.regex(JSON.stringify(await ask({ second: null })), /could not be stored/);
  board.refused = undefined;
  near.delete(HOME.ssid);
  boot(undefined, SOFTWARE);
  await board.clock.advance(60_000);
  t.is(board.joins.at(-1)!.SSID, NEW.ssid);
  t.deepEqual(await ask({ second: null }), { second: "forgotten" });
  boot(undefined, SOFTWARE);
  await board.clock.advance(60_000);
  t.is(board.joins.at(-1)!.SSID, HOME.ssid);
  t.is(new Set(board.joins.slice(-3).map(({ SSID }) => SSID)).size, 1);
});

test("a trial leaves the second Wi-Fi as it is, and is not helped by it", async (t) => {
  const { board, boot, ask, published, near } = await online(t);
  await ask({ second: { ssid: "shed" } });
  await ask(NEW);
  t.regex(JSON.stringify(await ask({ second: null })), /another Wi-Fi is on trial/);
  await board.clock.advance(120_000);
  t.is(published(), "kept");
  near.clear();
  boot(undefined, SOFTWARE);
  await board.clock.advance(20_000);
  t.deepEqual([...new Set(board.joins.slice(-2).map(({ SSID }) => SSID))].sort(), [NEW.ssid, "shed"]);
});

test("the power goes while a second Wi-Fi is kept: the first is there, with the second or without", async (t) => {
  for (const ms of [0, 50, 200, 1000]) {
    const { board, boot, platform, device } = await online(t);
    platform.rpc(device(), "mote.wifi", { second: NEW });
    await board.clock.advance(ms);
    board.powerOff();
    boot();
    await board.clock.advance(15_000);
    t.deepEqual(board.joins.at(-1), { SSID: HOME.ssid, password: HOME.password }, `after ${ms} ms`);
  }
});

test("over http another Wi-Fi is taken from nobody who does not know the device's token", async (t) => {
  const { board, platform, ask, device, published } = await online(t, HOME, PRODUCT);
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
  const shown = JSON.stringify([platform.attributes(device()), board.lines]);
  t.false(shown.includes(token));
});

test("a trial ends as it would where the client attributes leave no room to report it", async (t) => {
  for (const params of [NEW, { ssid: "nowhere" }]) {
    const { board, ask, published } = await online(t, HOME, {}, (agent) => {
      for (let room = 3800; room > 0; room -= 1)
        try {
          agent.attributes.publish({ big: "x".repeat(room) });
          return;
        } catch {}
    });
    await ask(params);
    await board.clock.advance(7 * 60_000);
    t.is(published(), undefined);
    t.is(board.joins.at(-1)!.SSID, "ssid" in params && params === NEW ? NEW.ssid : HOME.ssid);
    t.is(board.lines.filter((line) => line.includes("no room for moteWifi")).length, 1);
  }
});

test("however many passwords an operator names, no line shows the token", async (t) => {
  let log = (_line: string): void => {};
  const application: Application = (agent, host) => {
    log = (line) => host.log("info", line);
    sampling(agent, host);
  };
  const { board, ask, device } = await online(t, HOME, {}, application);
  for (let n = 0; n < 70; n++) await ask({ ssid: "", password: `a password with number ${n}` });
  const token = device().credentials.credentialsId;
  const before = board.lines.length;
  log(`the token is ${token}`);
  log("a password with number 69");
  t.deepEqual(board.lines.slice(before), ["info: the token is ***", "info: ***"]);
});
