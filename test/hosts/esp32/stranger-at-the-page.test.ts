// A stranger has the page or the cable of somebody's board for a moment, and a network and a server of his own.
import { rootCertificates } from "node:tls";
import test, { type ExecutionContext } from "ava";
import { writeFrame } from "../../../extras/commissioning/improv-frames.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { HOME, PRODUCT, rig } from "./commissioning-rig.js";

const SECURE = { ...PRODUCT, baseUrl: "https://platform.test" };
const EVIL = { ssid: "evil", password: "evil password" };
const TOKEN = "TOKEN-of-the-owner";
const [OWN_CA = ""] = rootCertificates;

/** A board whose button is held; in the network "evil" every name leads to the stranger's server. */
async function opened(t: ExecutionContext, config: Record<string, unknown>) {
  const all = rig(t, { ...config, commission: { button: 4 } });
  const { board, modules, boot } = all;
  let joined = "";
  const heard: string[] = [];
  board.onRadio = (radio) => {
    radio.onConnect = () =>
      void board.clock.timer(500, () => {
        if (radio.connection !== 300) return;
        joined = radio.asked.at(-1)?.SSID ?? "";
        board.reason = 0;
        radio.become(500);
      });
  };
  const serves = board.net.onConnect;
  board.net.onConnect = (peer) => {
    if (joined !== EVIL.ssid) return serves?.(peer);
    peer.onData = (bytes) => {
      heard.push(Buffer.from(bytes).toString());
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    };
    return true;
  };
  modules.pressed.add(4);
  boot();
  await board.clock.advance(1100);
  modules.pressed.clear();
  /** All that his server was sent, after a minute and a restart. */
  const evil = async (): Promise<string> => {
    await board.clock.advance(60_000);
    if (board.restarts > 0) boot();
    await board.clock.advance(60_000);
    return heard.join();
  };
  return { ...all, evil };
}

const KEPT = [
  ["a token", { token: TOKEN, provisioning: undefined }],
  ["the secret of a product line", {}],
] as const;

for (const [what, proof] of KEPT) {
  for (const [how, config, entered] of [
    ["a certificate of his own", SECURE, { ...EVIL, ca: OWN_CA }],
    ["http in place of https", SECURE, { ...EVIL, url: "http://platform.test" }],
    ["another address", SECURE, { ...EVIL, url: "https://evil.test" }],
    ["his Wi-Fi, where the platform is reached over http", PRODUCT, EVIL],
  ] as const) {
    test(`${what} is not sent to a stranger who enters ${how} on the page`, async (t) => {
      const { modules, evil } = await opened(t, { ...config, ...proof, wifi: HOME });
      modules.submit(entered);
      const heard = await evil();
      for (const secret of [TOKEN, KEY, SECRET]) t.false(heard.includes(secret));
      t.regex(modules.visit("GET / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n"), /again/);
    });
    test(`${what} is not sent to a stranger who enters ${how} by cable and Improv`, async (t) => {
      const { modules, evil } = await opened(t, { ...config, ...proof, wifi: HOME });
      if ("url" in entered) modules.type(`set url ${entered.url}`);
      if ("ca" in entered) for (const line of ["set ca", ...OWN_CA.trim().split("\n")]) modules.type(line);
      const texts = [EVIL.ssid, EVIL.password].flatMap((text) => [text.length, ...Buffer.from(text)]);
      modules.typed?.(writeFrame(3, [1, texts.length, ...texts]));
      const heard = await evil();
      for (const secret of [TOKEN, KEY, SECRET]) t.false(heard.includes(secret));
    });
  }

  test(`another Wi-Fi for a board with ${what} over https needs nothing else`, async (t) => {
    const { board, modules } = await opened(t, { ...SECURE, ...proof, wifi: { ssid: "old" } });
    modules.submit(HOME);
    await board.clock.advance(2000);
    t.deepEqual(board.joins.at(-1), { SSID: HOME.ssid, password: HOME.password });
  });
}

test("what a stranger entered is not completed by the owner's Wi-Fi, given by Improv", async (t) => {
  const { board, modules, evil } = await opened(t, { firmware: PRODUCT.firmware });
  modules.submit({ url: "http://evil.test", token: "his-token" });
  const texts = [HOME.ssid, HOME.password].flatMap((text) => [text.length, ...Buffer.from(text)]);
  modules.typed?.(writeFrame(3, [1, texts.length, ...texts]));
  await evil();
  t.deepEqual([board.restarts, board.joins.length], [0, 0]);
});
