// The console, used as a person uses it, in a real browser.
import { createHash } from "node:crypto";
import anyTest from "ava";
import { operatorOf } from "../operator-of.js";
import { VirtualClock } from "../platform/rig.js";
import { platformFor } from "../platform-for.js";
import { ScriptedDevice } from "../scripted-device.js";
import { openPage } from "./browser.js";
import { MovedClock, makeFleet } from "./fleet.js";
import { answer, consoleRig, fillLogin, logIn, MARKUP, part, send } from "./rig.js";

const { test, platform, operator, device, pageOf } = consoleRig(anyTest);
const failed = (status: string): string[] => [
  `Failed to load resource: the server responded with a status of ${status}`,
];

test("login reports a wrong password; the right one shows devices with live state", async (t) => {
  const one = device("list-1");
  const { page, errors } = await openPage();
  await page.goto(platform().url);
  await fillLogin(page, "tenant", "wrong");
  await page.getByRole("alert").getByText("Wrong user name or password.").waitFor();
  await fillLogin(page, "tenant", "tenant");
  const row = page.getByRole("row", { name: /list-1/ });
  await row.getByText("never").waitFor();
  await row.getByText("inactive").waitFor();
  await one.send("telemetry", { a: 1 });
  await row.getByText("active", { exact: true }).waitFor();
  await row.getByText(/ s ago/).waitFor();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  t.deepEqual(errors, failed("401 (Unauthorized)"));
});

test("pages, sorts and filters 300 devices, and keeps the view over a reload", async (t) => {
  const clock = new MovedClock();
  t.teardown(() => clock.close());
  const { url } = await platformFor(t, { clock }).then(async (own) => {
    await makeFleet(own, clock, 300);
    return own;
  });
  const { page, errors } = await logIn(url);
  const list = part(page, "Devices");
  await list.getByText("page 1 of 12").waitFor();
  t.is(await list.locator("tbody tr").count(), 25);
  t.is(await list.locator("tbody .dot.on").count(), 6);
  await list.getByRole("button", { name: "Next" }).click();
  await list.getByText("page 2 of 12").waitFor();
  await list.getByLabel("Sort by").selectOption("name");
  await list.getByRole("row", { name: /greenhouse-north/ }).waitFor();
  await list.getByLabel(/^State/).selectOption("inactive");
  await page.getByText("294 devices").waitFor();
  await list.getByLabel("Search").fill("sensor-1");
  await page.getByText("100 devices").waitFor();
  await page.reload();
  await page.getByText("100 devices").waitFor();
  await list.getByText("page 1 of 4").waitFor();
  await list.getByRole("row", { name: /sensor-100/ }).waitFor();
  await list.getByLabel("Search").fill("no-such");
  await page.getByText("No inactive device has “no-such” in its name.").waitFor();
  t.deepEqual(errors, []);
});

test("telemetry comes to charts over a range and to latest values; a time is no chart", async (t) => {
  const one = device("charts-1");
  const now = Date.now();
  for (let n = 30; n > 0; n--) {
    const values = { temperature: 20 + n, "=humidity": 50 - n, bootTime: now };
    await one.send("telemetry", { ts: now - n * 1_000, values });
  }
  await one.send("telemetry", { ts: now - 1_800_000, values: { temperature: 1, pressure: 9 } });
  const { page, errors } = await pageOf(one);
  const telemetry = part(page, "Telemetry");
  await telemetry.getByRole("figure", { name: /temperature, 30 points, the last is 21/ }).waitFor();
  t.is(await telemetry.locator("figure").count(), 2);
  await one.send("telemetry", { note: "hello" });
  await telemetry.getByRole("cell", { name: "hello" }).waitFor();
  await telemetry.getByLabel("Show").selectOption("1 hour");
  await telemetry.getByRole("figure", { name: /temperature, 31 points/ }).waitFor();
  t.deepEqual(errors, []);
});

test("attributes of the three kinds are shown, and shared ones set, edited and deleted", async (t) => {
  const one = device("attributes-1");
  await one.send("attributes", { serial: "A-113" });
  const { page, errors } = await pageOf(one);
  const attributes = part(page, "Attributes");
  await attributes.getByRole("cell", { name: "A-113" }).waitFor();
  await send(attributes, { key: "interval", json: "{thirty" });
  await page.getByText(/^Invalid JSON/).waitFor();
  await send(attributes, { json: "9007199254740993" });
  await page.getByText(/would be rounded/).waitFor();
  t.deepEqual(await operator().attributes.get(one.id, "SHARED_SCOPE"), {});
  await send(attributes, { json: "30" });
  await attributes.getByRole("row", { name: /interval 30/ }).waitFor();
  await attributes.getByRole("button", { name: "Edit interval" }).click();
  await send(attributes, { json: '"night"' });
  await attributes.getByRole("row", { name: /interval night/ }).waitFor();
  t.deepEqual((await one.get("attributes?sharedKeys=interval")).shared, { interval: "night" });
  await attributes.getByRole("button", { name: "Delete interval" }).click();
  await answer(page, "Delete");
  await attributes.getByRole("row", { name: /interval/ }).waitFor({ state: "detached" });
  t.deepEqual(await one.get("attributes?sharedKeys=interval"), {});
  t.deepEqual(errors, []);
});

test("calls RPCs and shows the answer, an error in red, and the time", async (t) => {
  const one = device("rpc-1");
  void one.answer((method, params) =>
    method === "fail" ? { error: { code: "METHOD_NOT_FOUND" } } : { did: method, params },
  );
  const { page, errors } = await pageOf(one);
  const rpc = part(page, "RPC");
  await send(rpc, { method: "setLed", params: '{"on":true}' });
  await rpc.getByRole("cell", { name: '{"did":"setLed","params":{"on":true}}' }).waitFor();
  const full = JSON.stringify({ did: "setLed", params: { on: true } }, undefined, 2);
  t.is(await rpc.getByRole("region", { name: "Full answer" }).textContent(), full);
  await rpc.getByLabel("Way").selectOption("one-way");
  await send(rpc, { method: "reboot" });
  await rpc.getByText("sent").waitFor();
  await rpc.getByLabel("Way").selectOption("two-way");
  await send(rpc, { method: "fail" });
  await rpc.locator(".bad").getByText("METHOD_NOT_FOUND").waitFor();
  t.is(await rpc.getByText(/^[\d.]+ m?s$/).count(), 3);
  t.deepEqual(errors, []);
});

test("uploads and assigns an image, and shows progress, failure and other bytes", async (t) => {
  const one = device("firmware-1");
  await one.send("telemetry", { current_fw_title: "pump", current_fw_version: "1.0.0" });
  const { page, errors } = await pageOf(one);
  const firmware = part(page, "Firmware");
  await firmware.getByText("Runs pump 1.0.0.").waitFor();
  const image = Buffer.alloc(300_000, "mote");
  const checksum = createHash("sha256").update(image).digest("hex");
  const file = { name: "image.bin", mimeType: "application/octet-stream", buffer: image };
  await firmware.locator("input[type=file]").setInputFiles(file);
  await send(firmware, { version: "2.0.0" });
  await firmware.getByText("pump 2.0.0 (assigned)").waitFor();
  const shared = (await one.get("attributes?sharedKeys=fw_version,fw_checksum,fw_size")).shared;
  t.deepEqual(shared, { fw_version: "2.0.0", fw_checksum: checksum, fw_size: image.length });
  await one.send("telemetry", { fw_state: "DOWNLOADING", fw_progress: 40 });
  await firmware.getByRole("progressbar", { name: "Download by the device" }).waitFor();
  await firmware.getByRole("button", { name: "Unassign pump 2.0.0" }).click();
  await answer(page, "Cancel");
  await one.send("telemetry", { fw_state: "FAILED", fw_error: "the checksum is wrong" });
  await firmware.getByText("Failed: the checksum is wrong").waitFor();
  await one.send("telemetry", { current_fw_version: "2.0.0", current_fw_checksum: "abcdef0123456789" });
  await firmware.getByText(/These are other bytes .*checksum abcdef012345…/).waitFor();
  await firmware.getByRole("button", { name: "Unassign pump 2.0.0" }).click();
  await firmware.getByRole("button", { name: "Assign pump 2.0.0", exact: true }).waitFor();
  t.deepEqual(errors, []);
});

test("the fleet's updates are counted and filtered by their states", async (t) => {
  const clock = new MovedClock();
  t.teardown(() => clock.close());
  const own = await platformFor(t, { clock });
  await makeFleet(own, clock, 10);
  const { page, errors } = await logIn(own.url);
  await page.getByRole("link", { name: "Updates" }).click();
  await page.getByRole("button", { name: "Downloading 1" }).click();
  await page.getByRole("row", { name: /update-downloading 1\.0\.0 2\.0\.0 Downloading 45 %/ }).waitFor();
  await page.getByRole("button", { name: "Rolled back 1" }).click();
  await page.getByRole("row", { name: /task watchdog/ }).waitFor();
  t.is(await page.locator("tbody tr").count(), 1);
  await part(page, "Rollout of greenhouse 2.0.0").getByText("1 good").waitFor();
  t.deepEqual(errors, []);
});

test("reads the device's own log, and says when the device keeps none", async (t) => {
  const one = device("log-1");
  const lines = [
    [0.5, "info", "started"],
    [3, "warn", "low"],
  ];
  let said: unknown = { build: null, uptime: 9, lines };
  void one.answer(() => said);
  const { page, errors } = await pageOf(one);
  const log = part(page, "Log");
  await log.getByRole("button", { name: "Read the log" }).click();
  await log.getByRole("row", { name: /^\d\d:\d\d:\d\d info started$/ }).waitFor();
  await log.getByText("Up 9 s.").waitFor();
  said = { error: { code: "METHOD_NOT_FOUND" } };
  await log.getByRole("button", { name: "Read the log" }).click();
  await log.getByText("This firmware keeps no log.").waitFor();
  t.deepEqual(errors, []);
});

test("adds a device, shows its token only after a click, and deletes it after a question", async (t) => {
  device("added-before");
  const { page, errors } = await logIn(platform().url);
  await page.getByRole("button", { name: "Add device" }).click();
  const dialog = page.getByRole("dialog");
  await send(dialog, { name: "added-before" });
  await dialog
    .getByRole("alert")
    .getByText(/already exists/)
    .waitFor();
  await send(dialog, { name: "added-1" });
  await page.getByRole("dialog", { name: "added-1 is added" }).waitFor();
  const { id } = (await operator().devices.byName("added-1"))!.id;
  const { credentialsId: token } = await operator().devices.credentials(id);
  t.false((await page.content()).includes(token));
  await dialog.getByRole("button", { name: "Show access token" }).click();
  await dialog.getByText(`MOTE_TOKEN='${token}' npx mote-cli run --url ${platform().url}`).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  t.false((await page.content()).includes(token));
  await page.getByRole("button", { name: "Delete added-1" }).click();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await t.notThrowsAsync(operator().devices.get(id));
  await page.getByRole("button", { name: "Delete added-1" }).click();
  await answer(page, "Delete");
  await page.getByRole("row", { name: /added-1/ }).waitFor({ state: "detached" });
  await t.throwsAsync(operator().devices.get(id));
  t.deepEqual(errors, failed("400 (Bad Request)"));
});

test("a device deleted elsewhere leaves the list, and its page says so", async (t) => {
  const [listed, open] = [device("deleted-1"), device("deleted-2")];
  const { page } = await logIn(platform().url);
  await page.getByRole("row", { name: /deleted-1/ }).waitFor();
  await operator().devices.delete(listed.id);
  await page.getByRole("row", { name: /deleted-1/ }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "deleted-2" }).click();
  await part(page, "RPC").waitFor();
  await operator().devices.delete(open.id);
  await page.getByRole("heading", { name: "Device not found", level: 1 }).waitFor();
  t.is(await page.locator("#messages").textContent(), "");
});

test("an open page renews its token and asks for a login when the session ends", async (t) => {
  const clock = new VirtualClock();
  const own = await platformFor(t, { clock });
  const one = new ScriptedDevice(own, "long-1");
  const { page } = await logIn(own.url);
  await page.getByRole("link", { name: "long-1" }).click();
  await page.getByText("live", { exact: true }).waitFor();
  clock.advance(9_015_000);
  await one.send("telemetry", { note: "hello again" });
  await part(page, "Telemetry").getByRole("cell", { name: "hello again" }).waitFor();
  clock.advance(604_815_000);
  await page.getByText("The session has ended. Log in again.").waitFor();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  t.pass();
});

test("a customer's login shows its devices, and offers nothing that it may not do", async (t) => {
  const one = device("customers-1");
  one.device.customerId = (await (await operatorOf(platform(), "customer")).user()).customerId?.id;
  await one.send("telemetry", { a: 1 });
  const { page, errors } = await logIn(platform().url, "customer");
  await page.getByText(/^A customer's login: it shows the customer's devices/).waitFor();
  await page.getByRole("link", { name: "customers-1" }).click();
  await part(page, "RPC").waitFor();
  t.is(await page.getByRole("button", { name: /Add device|Delete device|Connect/ }).count(), 0);
  t.is(await part(page, "Firmware").count(), 0);
  t.deepEqual(errors, []);
});

test("each page has a title and a focused h1; an unknown address says so", async (t) => {
  const one = device("focus-1");
  const { page } = await logIn(platform().url);
  for (const [hash, name] of Object.entries({
    "#/updates": "Updates",
    [`#/device/${one.id}`]: "focus-1",
    "#/device/00000000-0000-4000-8000-000000000000": "Device not found",
    "#/no/such/page": "Page not found",
    "#/?search=focus": "Devices",
  })) {
    await page.goto(`${platform().url}/${hash}`);
    await page.getByRole("heading", { name, level: 1, exact: true }).waitFor();
    t.is(await page.title(), `${name} · Mote console`);
    t.is(await page.evaluate<string>("document.activeElement.tagName"), "H1", hash);
  }
});

test("shows a device's markup as text on every page", async (t) => {
  const one = device("hostile-1");
  const lines = [[1, "info", MARKUP]];
  void one.answer((method) =>
    method === "mote.log" ? { build: null, uptime: 2, lines } : { [MARKUP]: MARKUP },
  );
  await one.send("attributes", { serial: MARKUP });
  await operator().attributes.set(one.id, "SHARED_SCOPE", { mode: MARKUP });
  const reported = { fw_state: "FAILED", fw_error: MARKUP, current_fw_title: MARKUP };
  await one.send("telemetry", { ...reported, current_fw_version: MARKUP, object: { [MARKUP]: 1 } });
  const { page, errors } = await logIn(platform().url);
  // The platform's own REST refuses such a name.
  await page.route(`**/api/device/${one.id}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), name: MARKUP } });
  });
  const isText = async (): Promise<void> => {
    t.is(await page.locator("img, main script").count(), 0);
    t.regex(await page.title(), /Mote console$/);
  };
  await page.goto(`${platform().url}/#/updates`);
  await page.getByRole("cell", { name: MARKUP }).first().waitFor();
  await isText();
  await page.goto(`${platform().url}/#/device/${one.id}`);
  for (const name of ["Telemetry", "Attributes", "Firmware"])
    await part(page, name).getByText(MARKUP).first().waitFor();
  await send(part(page, "RPC"), { method: MARKUP });
  await part(page, "RPC")
    .getByText(`{"${MARKUP.replaceAll('"', '\\"')}"`)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Read the log" }).click();
  await part(page, "Log").getByRole("cell", { name: MARKUP }).waitFor();
  await page.getByRole("button", { name: "Delete device" }).click();
  await page.getByRole("dialog").getByText(MARKUP).waitFor();
  await isText();
  t.deepEqual(errors, []);
});
