// A program that prints the token which its device got by provisioning, in real worker processes against a local platform.
import { fileURLToPath } from "node:url";
import test from "ava";
import { startPlatform } from "../../../tools/platform/server.js";
import { configFor, image } from "./images.js";
import { session, temporaryState } from "./session.js";

const WORKER = fileURLToPath(new URL("../../../tools/run/worker.js", import.meta.url));

/** Prints the token in each form as soon as it is kept, then crashes with it. */
const PRINTS = `
  const look = setInterval(() => {
    const kept = host.store.get("token");
    if (!kept) return;
    clearInterval(look);
    const { token } = JSON.parse(new TextDecoder().decode(kept.subarray(1)));
    const bytes = Buffer.from(token);
    console.log("plain", token);
    console.log("percent", [...bytes].map((byte) => "%" + byte.toString(16)).join(""));
    console.log("json", JSON.stringify(JSON.stringify({ token })));
    console.log("base64", Buffer.from("device:" + token).toString("base64"));
    console.log("base64url", bytes.toString("base64url"));
    console.log("hex", bytes.toString("hex"));
    console.error("capitals", token.toUpperCase());
    console.log("in two"); console.log(token.slice(0, 9)); console.log(token.slice(9));
    host.conceal("a secret of the program"); console.log("named: a secret of the program");
    host.log("info", "by the log " + token);
    setTimeout(() => { throw new Error("crashed with " + token); }, 500);
  }, 5);`;

test("mote run shows a provisioned token in no form, nor what a program names a secret", async (t) => {
  const platform = await startPlatform({ port: 0 });
  t.teardown(() => platform.close());
  const { provisionKey, provisionSecret } = platform.core.profiles.create({
    name: "lamps",
    strategy: "ALLOW_CREATE_NEW_DEVICES",
    provisionKey: "key-of-the-lamps",
    provisionSecret: "secret-of-the-lamps",
  });
  const stateDir = temporaryState(t);
  const { token: _, ...config } = configFor(stateDir);
  const provisioning = { key: provisionKey!, secret: provisionSecret!, deviceName: "lamp" };
  const { eventLog, stop } = session(t, stateDir, image("1", PRINTS), {
    config: { ...config, url: platform.url, provisioning },
    worker: WORKER,
  });
  await eventLog.until(({ events }) => events.filter(({ event }) => event === "crash").length > 1);
  await stop();
  const token = platform.core.devices.byName("lamp")!.credentials.credentialsId;
  const shown = JSON.stringify(eventLog.events);
  const forms = [
    token,
    token.slice(9),
    token.toUpperCase(),
    Buffer.from(token).toString("base64url"),
    Buffer.from(token).toString("hex"),
    Buffer.from(`device:${token}`).toString("base64").slice(12, 30),
    [...Buffer.from(token)].map((byte) => `%${byte.toString(16)}`).join(""),
    "secret of the program",
  ];
  for (const form of forms) t.false(shown.includes(form), form);
  t.true(shown.includes("in two") && shown.includes("***"));
});
