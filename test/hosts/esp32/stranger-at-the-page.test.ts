// A stranger has the page or the cable of somebody's board for a moment, and a network and a server
// of his own.
import { rootCertificates } from "node:tls";
import test, { type ExecutionContext } from "ava";
import { KEY, SECRET } from "../../fakes/platform.js";
import { HOME, PAGE, PRODUCT, rig, wifiFrame } from "./rig.js";

const SECURE = { ...PRODUCT, baseUrl: "https://platform.test" };
const EVIL = { ssid: "evil", password: "evil password" };
const TOKEN = "TOKEN-of-the-owner";
const [OWN_CA = ""] = rootCertificates;

/**
 * A board whose button is held; in the network "evil" every name leads to the stranger's server.
 */
async function opened(t: ExecutionContext, config: Record<string, unknown>) {
  const all = rig(t, { ...config, commission: { button: 4 } });
  const { board, modules, boot } = all;
  const heard: string[] = [];
  board.hears = () => 0;
  const serves = board.net.onConnect;
  board.net.onConnect = (peer) => {
    if (board.joined !== EVIL.ssid) return serves?.(peer);
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

for (const [what, proof] of [
  ["a token", { token: TOKEN, provisioning: undefined }],
  ["the secret of a product line", {}],
] as const)
  for (const [how, config, entered] of [
    ["a certificate of his own", SECURE, { ...EVIL, ca: OWN_CA }],
    ["http in place of https", SECURE, { ...EVIL, url: "http://platform.test" }],
    ["another address", SECURE, { ...EVIL, url: "https://evil.test" }],
    ["his Wi-Fi, where the platform is reached over http", PRODUCT, EVIL],
  ] as const)
    test(`${what} is not sent to a stranger who enters ${how}`, async (t) => {
      const { modules, evil } = await opened(t, { ...config, ...proof, wifi: HOME });
      modules.submit(entered);
      const heard = await evil();
      for (const secret of [TOKEN, KEY, SECRET]) t.false(heard.includes(secret));
      t.regex(modules.visit(PAGE), /again/);
    });

test("over http a stranger's Wi-Fi by Improv gets no secret of the owner", async (t) => {
  const { modules, evil } = await opened(t, { ...PRODUCT, token: TOKEN, wifi: HOME });
  modules.typed?.(wifiFrame(EVIL.ssid, EVIL.password));
  const heard = await evil();
  for (const secret of [TOKEN, KEY, SECRET]) t.false(heard.includes(secret));
  t.regex(modules.visit(PAGE), /again/);
});

test("what a stranger entered is not completed by the owner's Wi-Fi, given by Improv", async (t) => {
  const { board, modules, evil } = await opened(t, { firmware: PRODUCT.firmware });
  modules.submit({ url: "http://evil.test", token: "his-token" });
  modules.typed?.(wifiFrame(HOME.ssid, HOME.password));
  await evil();
  t.deepEqual([board.restarts, board.joins.length], [0, 0]);
});
