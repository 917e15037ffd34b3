// The official client of Improv against the device's code, as wired to a serial line as to a board's.
import test from "ava";
import { Console } from "../../../extras/commissioning/console.js";
import { Improv } from "../../../extras/commissioning/improv.js";
import { FrameReader } from "../../../extras/commissioning/improv-frames.js";
import { LineReader } from "../../../extras/commissioning/lines.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { officialClient } from "./official-client.js";
import { type RigOptions, rig, URL } from "./rig.js";

const [READY, PROVISIONED] = [2, 4];
const PLACE = `${URL}/entities/devices?textSearch=lamp-1`;
const BUILT_IN = { url: URL, key: KEY, secret: SECRET };

/** A device on a line where its log and its console write too, in pieces as a serial line has them. */
async function wired(options: RigOptions = {}) {
  const { commissioning, entry, host } = rig({ before: BUILT_IN, ...options });
  const send = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; at += 7) received(bytes.slice(at, at + 7));
  };
  const write = (text: string): void => send(host.encode(text.replaceAll("\n", "\r\n")));
  const console = new Console({ entry, write, reset: () => {} });
  const improv = new Improv({
    host,
    write: send,
    info: ["lamp", "1.2.3", "ESP32-C3", "lamp-1"],
    url: () => PLACE,
    entry,
    scan: (found, done) => {
      found({ ssid: "home", rssi: -48, secured: true });
      write("info: a line of the log\n");
      found({ ssid: "guests", rssi: -71, secured: false });
      done();
    },
  });
  commissioning.onChange = () => {
    console.changed();
    improv.changed();
  };
  const lines = new LineReader(host, (line) => console.line(line));
  const reader = new FrameReader(
    host.clock,
    (text) => lines.feed(text),
    (kind, data) => improv.frame(kind, data),
  );
  const { client, received } = await officialClient((bytes) => {
    write("info: half a line ");
    reader.feed(bytes);
  });
  return { client, host, commissioning };
}

test("it finds the device, its networks, gives it one, and is led to where the device is shown", async (t) => {
  const { client, host, commissioning } = await wired();
  await client.initialize();
  t.is(client.state, READY);
  t.like(client.info, { name: "lamp-1", firmware: "lamp", version: "1.2.3", chipFamily: "ESP32-C3" });
  t.deepEqual(await client.scan(), [
    { name: "guests", rssi: -71, secured: false },
    { name: "home", rssi: -48, secured: true },
  ]);
  const provisioned = client.provision("home", "correct horse");
  await host.clock.runUntil(() => commissioning.state === "done");
  await provisioned;
  t.deepEqual([client.state, client.nextUrl], [PROVISIONED, PLACE]);
  await client.requestCurrentState();
  t.is(client.nextUrl, PLACE);
  await client.close();
});

test("it hears that a Wi-Fi can't be joined, and what the device does not know", async (t) => {
  const { client, host, commissioning } = await wired({
    join: () => ({ field: "password", reason: "the Wi-Fi's password is wrong" }),
  });
  await client.initialize();
  const refused = t.throwsAsync(client.provision("home", "wrong horse"), { any: true });
  await host.clock.runUntil(() => commissioning.state === "checking");
  await host.clock.runUntil(() => commissioning.state === "open");
  t.is((await refused) as unknown, "UNABLE_TO_CONNECT");
  t.is(client.state, READY);
  t.is((await t.throwsAsync(client.getHostname(), { any: true })) as unknown, "UNKNOWN_RPC_COMMAND");
  await client.close();
});
