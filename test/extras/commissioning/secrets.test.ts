// Nothing that leaves a device by these ways holds a secret: page, cable, name server, log. Every
// byte is looked at.
import { createHash } from "node:crypto";
import test from "ava";
import { writeFrame } from "../../../extras/commissioning/improv-frames.js";
import { WRONG_PASSWORD } from "../../hosts/esp32/board.js";
import { rig, wifiFrame } from "../../hosts/esp32/rig.js";
import { formsOf } from "../../simulation/promises/secrets.js";

/**
 * Of each kind one that is built in, one that is wrong, one that is right. Letters that URLs and
 * HTML write otherwise.
 */
const secret = (name: string): string =>
  `${name} &+<"'%ä${createHash("md5").update(name).digest("hex").slice(0, 9)}`;
const BUILT_IN = { password: secret("built"), key: secret("bkey"), secret: secret("bsec") };
const WRONG = {
  password: secret("wrong"),
  token: secret("wtok").replace(/[%]/g, ""),
  key: secret("wkey"),
  secret: secret("wsec"),
};
const RIGHT = { password: secret("right"), key: "provision-key", secret: "provision-secret" };
const LABEL = "label-of-this-one";

/** As it might be written on its way out. */
function forms(text: string): string[] {
  const html = text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
  return [html, new URLSearchParams({ a: text }).toString().slice(2), ...formsOf(text)];
}

/** Improv: its state, what runs there, and a Wi-Fi with this password, whole and damaged. */
function improvFrames(password: string): Uint8Array[] {
  const wifi = wifiFrame("home", password);
  const damaged = wifi.slice();
  damaged[13]! ^= 1;
  return [writeFrame(3, [2, 0]), writeFrame(3, [3, 0]), damaged, wifi];
}

test("no secret leaves by page, cable, name server or log, in clear, escaped, in base64, hex or backwards", async (t) => {
  const { board, modules, boot, stop, device, values } = rig(t, {
    baseUrl: "http://platform.test",
    wifi: { ssid: "factory", password: BUILT_IN.password },
    provisioning: { key: BUILT_IN.key, secret: BUILT_IN.secret },
    firmware: { title: "lamp", version: "1.0.0" },
    commission: { button: 4 },
  });
  board.hears = ({ password }) => (password === RIGHT.password ? 0 : WRONG_PASSWORD);
  const look = () => modules.visit("GET / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n");
  const improv = async (): Promise<void> => {
    for (const frame of improvFrames(WRONG.password)) modules.typed?.(frame);
    await board.clock.advance(60_000);
  };
  modules.pressed.add(4);
  boot();
  await board.clock.advance(1100);
  look();
  modules.submit({ ssid: "home", ...WRONG });
  look();
  await board.clock.advance(10_000);
  look();
  await improv();
  // Everything that is wrong, with secrets where none belong.
  modules.submit({
    ssid: WRONG.secret.repeat(4),
    url: `http://${WRONG.key}@x/`,
    ca: WRONG.password,
    token: `${WRONG.token}/`,
  });
  look();
  const quoted = encodeURIComponent(WRONG.key);
  for (const request of [
    `GET /${quoted} HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n`,
    `GET /?a=${quoted} HTTP/1.1\r\nHost: ${Buffer.from(WRONG.key).toString("hex")}\r\n\r\n`,
    `PUT / HTTP/1.1\r\nHost: 192.168.4.1\r\nX: ${quoted}\r\n\r\n`,
    `POST / HTTP/1.1\r\nHost: 192.168.4.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${quoted.length + 6}\r\n\r\nproof=${quoted}`,
  ])
    modules.visit(request);
  modules.resolve(Buffer.from("000101000001000000000000016100000100 01".replaceAll(" ", ""), "hex"));
  modules.submit({ ssid: "home", url: "http://platform.test", label: LABEL, ...RIGHT });
  look();
  await board.clock.runUntil(() => board.restarts > 0);
  modules.pressed.clear();
  boot();
  await board.clock.advance(10_000);
  await improv();
  t.deepEqual(values("n"), [1]);
  // What the device got by itself is no less a secret.
  const token = device().credentials.credentialsId;
  await stop();
  const out = Buffer.concat([...modules.sent, ...modules.framed, Buffer.from(board.lines.join("\n"))]);
  t.true(
    modules.sent.length > 10 && modules.framed.length > 10 && board.lines.length > 1,
    board.lines.join(),
  );
  const secrets = [BUILT_IN, WRONG, RIGHT]
    .flatMap((all): string[] => Object.values(all))
    .concat(LABEL, token);
  for (const one of secrets) for (const form of forms(one)) t.false(out.includes(form), `${form} of ${one}`);
});
