// The console, used as a person uses it, in a real browser.
import { createHash } from "node:crypto";
import anyTest from "ava";
import { startPlatform } from "../../../tools/platform/server.js";
import { VirtualClock } from "../platform/rig.js";
import { keep, openPage } from "./browser.js";
import { Played } from "./played.js";
import { answer, consoleRig, entry, MARKUP, part, TENANT } from "./rig.js";

const rig = consoleRig(anyTest);
const { test, device, loggedIn, pageOf } = rig;
/** What the browser says is wrong with a field. */
const PROBLEM = (input: unknown): string => (input as { validationMessage: string }).validationMessage;

test("a wrong password is named, the right one shows the devices, with their state as it changes", async (t) => {
  const one = await device("list-1");
  const { page, errors } = await openPage();
  await page.goto(rig.platform().url);
  await page.getByLabel("User").fill(TENANT[0]);
  await page.getByLabel("Password").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("Invalid username or password").waitFor();
  await page.getByLabel("Password").fill(TENANT[1]);
  await page.keyboard.press("Enter");
  const row = page.getByRole("row", { name: /list-1/ });
  // What was said of the first try goes with it.
  await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
  t.is(await page.getByText("Invalid username or password").count(), 0);
  await row.getByText("never").waitFor();
  await row.getByText("inactive").waitFor();
  await one.send("telemetry", { a: 1 });
  await row.getByText("active", { exact: true }).waitFor();
  await row.getByText(/ s ago/).waitFor();
  await page.getByLabel("Search").fill("nothing-like-it");
  await row.waitFor({ state: "detached" });
  await page.getByText("No device has “nothing-like-it” in its name.").waitFor();
  await page.getByLabel("Search").fill("list");
  await row.waitFor();
  await page.reload();
  await row.waitFor();
  await keep(page, "console-devices");
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  t.deepEqual(errors, ["Failed to load resource: the server responded with a status of 401 (Unauthorized)"]);
});

test("telemetry is drawn and shown as it arrives, without a reload", async (t) => {
  const one = await device("live-1");
  const now = Date.now();
  for (let n = 60; n > 0; n--)
    await one.send("telemetry", { ts: now - n * 1000, values: { temperature: 20 + Math.sin(n / 5) } });
  const { page, errors } = await pageOf(one);
  const telemetry = part(page, "Telemetry");
  await telemetry.locator("figure canvas").waitFor();
  await one.send("telemetry", { temperature: 42.25, note: "hello", humidity: 51 });
  await telemetry.getByRole("cell", { name: "42.25" }).waitFor();
  await telemetry.getByRole("cell", { name: "hello" }).waitFor();
  await page.getByRole("figure", { name: /temperature, 61 points, the last is 42.25/ }).waitFor();
  // One point makes no line.
  t.is(await page.getByRole("figure", { name: /humidity/ }).count(), 0);
  await one.send("telemetry", { humidity: 52 });
  await page.getByRole("figure", { name: /humidity, 2 points, the last is 52/ }).waitFor();
  await entry(telemetry, "Show").selectOption("1 hour");
  await page.getByRole("figure", { name: /temperature, 61 points/ }).waitFor();
  t.deepEqual(errors, []);
});

test("attributes of the three kinds are shown, and shared ones set, edited and deleted", async (t) => {
  const one = await device("attributes-1");
  await one.send("attributes", { serial: "A-113" });
  const { page, errors } = await pageOf(one);
  const attributes = part(page, "Attributes");
  await attributes.getByRole("cell", { name: "A-113" }).waitFor();
  const set = attributes.getByRole("form", { name: "Set an attribute" });
  await entry(set, "Key").fill("interval");
  await entry(set, "Value (JSON)").fill("{thirty");
  await set.getByRole("button", { name: "Set" }).click();
  t.regex(await entry(set, "Value (JSON)").evaluate(PROBLEM), /no JSON/);
  await entry(set, "Value (JSON)").fill("9007199254740993");
  await set.getByRole("button", { name: "Set" }).click();
  t.regex(await entry(set, "Value (JSON)").evaluate(PROBLEM), /would be rounded/);
  t.deepEqual(await rig.operator().attributes.get(one.id, "SHARED_SCOPE"), {});
  await entry(set, "Value (JSON)").fill("30");
  await page.keyboard.press("Enter");
  await attributes.getByRole("row", { name: /interval 30/ }).waitFor();
  await attributes.getByRole("button", { name: "Edit interval" }).click();
  await entry(set, "Value (JSON)").fill('"night"');
  await page.keyboard.press("Enter");
  await attributes.getByRole("row", { name: /interval night/ }).waitFor();
  t.deepEqual((await one.get("attributes?sharedKeys=interval")).shared, { interval: "night" });
  await one.send("attributes", { serial: "A-114" });
  await attributes.getByRole("cell", { name: "A-114" }).waitFor();
  await attributes.getByRole("button", { name: "Delete interval" }).click();
  await answer(page, "Delete");
  await attributes.getByRole("row", { name: /interval.*deleting/ }).waitFor();
  t.deepEqual((await one.get("attributes?sharedKeys=interval")).shared, { interval: "night" });
  await attributes.getByRole("row", { name: /interval/ }).waitFor({ state: "detached" });
  t.deepEqual(await one.get("attributes?sharedKeys=interval"), {});
  t.deepEqual(errors, []);
});

test("an RPC is called in three ways, its answer and time are shown, and what is no JSON is refused in place", async (t) => {
  const one = await device("rpc-1");
  void one.answer((method, params) => ({ did: method, params }));
  const { page, errors } = await pageOf(one);
  const rpc = part(page, "RPC");
  const call = async (way: string, method: string, params: string) => {
    await entry(rpc, "Method").fill(method);
    await entry(rpc, "Way").selectOption(way);
    await entry(rpc, "Params (JSON)").fill(params);
    await rpc.getByRole("button", { name: "Call" }).click();
  };
  await call("two-way", "setLed", '{"on":');
  t.regex(await entry(rpc, "Params (JSON)").evaluate(PROBLEM), /no JSON/);
  await call("two-way", "setLed", '{"on":true}');
  await rpc.getByText('{"did":"setLed","params":{"on":true}}').first().waitFor();
  await call("one-way", "reboot", "{}");
  await rpc.getByText("handed on").waitFor();
  await call("persistent", "calibrate", "[1]");
  await rpc.getByText('SUCCESSFUL {"did":"calibrate","params":[1]}').first().waitFor();
  t.is(await rpc.getByText(/^[\d.]+ m?s$/).count(), 3);
  t.deepEqual(errors, []);
});

test("an image is dropped in, its checksum computed, uploaded and assigned; its progress and its failure are shown", async (t) => {
  const one = await device("firmware-1");
  await one.send("telemetry", { current_fw_title: "pump", current_fw_version: "1.0.0" });
  const { page, errors } = await pageOf(one);
  const firmware = part(page, "Firmware");
  await firmware.getByText("Runs pump 1.0.0.").waitFor();
  const image = Buffer.alloc(300_000, "mote");
  const dropped = await page.evaluateHandle(
    'const transfer = new DataTransfer(); transfer.items.add(new File([new Uint8Array(3)], "dropped.bin")); transfer',
  );
  await firmware.locator(".drop").dispatchEvent("drop", { dataTransfer: dropped });
  await firmware.getByText("dropped.bin, 3 bytes").waitFor();
  await firmware
    .locator("input[type=file]")
    .setInputFiles({ name: "image.bin", mimeType: "application/octet-stream", buffer: image });
  const checksum = createHash("sha256").update(image).digest("hex");
  await firmware.getByText(checksum).waitFor();
  t.is(await entry(firmware, "Title").inputValue(), "pump");
  await entry(firmware, "Version").fill("2.0.0");
  await firmware.getByRole("button", { name: "Upload and assign" }).click();
  await firmware.getByText("pump 2.0.0 (assigned)").waitFor();
  const shared = (await one.get("attributes?sharedKeys=fw_version,fw_checksum,fw_size")).shared;
  t.deepEqual(shared, { fw_version: "2.0.0", fw_checksum: checksum, fw_size: image.length });
  await one.send("telemetry", { fw_state: "DOWNLOADING", fw_progress: 40 });
  await firmware.getByRole("progressbar", { name: "Download by the device" }).waitFor();
  t.is(
    await firmware.getByRole("progressbar", { name: "Download by the device" }).getAttribute("value"),
    "40",
  );
  await one.send("telemetry", { fw_state: "FAILED", fw_error: "the checksum is wrong" });
  await firmware.getByText("FAILED: the checksum is wrong").waitFor();
  // What comes late is not how it stands: it would make the next press ask.
  await one.send("telemetry", { ts: Date.now() - 60_000, values: { fw_state: "DOWNLOADING", late: 1 } });
  await part(page, "Telemetry").getByRole("row", { name: /^late/ }).waitFor();
  await firmware.getByRole("button", { name: "Unassign pump 2.0.0" }).click();
  await firmware.getByRole("button", { name: "Assign pump 2.0.0", exact: true }).waitFor();
  t.deepEqual(errors, []);
});

test("what is dropped beside the place for it leaves the page, and what is no file keeps the image", async (t) => {
  const one = await device("drop-1");
  const { page, errors } = await pageOf(one);
  const firmware = part(page, "Firmware");
  const transfer = (of: string) => page.evaluateHandle(`const held = new DataTransfer(); ${of}; held`);
  const file = await transfer('held.items.add(new File([new Uint8Array(3)], "kept.bin"))');
  const text = await transfer('held.setData("text/plain", "no file")');
  await firmware.locator(".drop").dispatchEvent("drop", { dataTransfer: file });
  await firmware.getByText("kept.bin, 3 bytes").waitFor();
  await firmware.locator(".drop").dispatchEvent("drop", { dataTransfer: text });
  await page.getByText("That is no file.").waitFor();
  await firmware.getByText("kept.bin, 3 bytes").waitFor();
  const kept = await page.evaluate<boolean[]>(
    '["dragover", "drop"].map((kind) => !document.body.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true })))',
  );
  t.deepEqual(kept, [true, true]);
  t.deepEqual(errors, []);
});

test("a device of 2,000 keys is shown, with as many charts as are of use, and goes on live", async (t) => {
  const one = await device("many-1");
  const keys = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`sensor-${n}`, n]));
  await one.send("telemetry", { ...keys, "a,b": 77_077 });
  const { page, errors } = await pageOf(one);
  const telemetry = part(page, "Telemetry");
  await telemetry.getByRole("row", { name: "sensor-1999 1999" }).waitFor();
  await telemetry.getByRole("cell", { name: "77077" }).waitFor();
  t.is(await telemetry.locator("figure").count(), 0);
  await one.send("telemetry", keys);
  await telemetry.locator("figure").nth(11).waitFor();
  t.is(await telemetry.locator("figure").count(), 12);
  await one.send("telemetry", { "sensor-1999": 88_088 });
  await telemetry.getByRole("row", { name: "sensor-1999 88088" }).waitFor();
  t.deepEqual(errors, []);
});

test("a device is claimed with its secret and taken back", async (t) => {
  const one = await device("claim-1");
  await one.send("claim", { secretKey: "device-secret", durationMs: 60_000 });
  const { page, errors } = await pageOf(one);
  const claiming = part(page, "Claiming");
  await claiming.getByText("No customer owns this device.").waitFor();
  await entry(claiming, "Customer").fill("customer@thingsboard.org");
  await entry(claiming, "Password").fill("customer");
  await entry(claiming, "Device's secret").fill("device-secret");
  await page.keyboard.press("Enter");
  await claiming.getByText("A customer owns this device.").waitFor();
  await claiming.getByRole("button", { name: "Take it back" }).click();
  await answer(page, "Take it back");
  await claiming.getByText("No customer owns this device.").waitFor();
  t.deepEqual(errors, []);
});

const NAME = `markup &amp; "quoted"`;

test("what a device sends is text, whatever it holds, in every place", async (t) => {
  // The platform takes no name with elements in it, as a real server.
  await t.throwsAsync(device(`markup ${MARKUP}`), { message: /name is malformed/ });
  const one = await device(NAME);
  void one.answer(() => ({ [MARKUP]: MARKUP }));
  await one.send("attributes", { serial: MARKUP });
  await one.send("telemetry", { note: MARKUP, object: { [MARKUP]: 1 }, number: 1 });
  await one.send("telemetry", {
    fw_state: "FAILED",
    fw_error: MARKUP,
    current_fw_title: MARKUP,
    current_fw_version: MARKUP,
  });
  await one.send(`attributes?${encodeURIComponent(MARKUP)}`, { a: MARKUP });
  await rig.operator().attributes.set(one.id, "SHARED_SCOPE", { mode: MARKUP });
  const { page, errors } = await pageOf(one);
  await entry(part(page, "RPC"), "Method").fill(MARKUP);
  await page.getByRole("button", { name: "Call" }).click();
  await part(page, "RPC")
    .getByText(`{"${MARKUP.replaceAll('"', '\\"')}"`)
    .first()
    .waitFor();
  await part(page, "Telemetry").getByText(MARKUP).first().waitFor();
  await part(page, "Attributes").getByText(MARKUP).first().waitFor();
  await part(page, "Firmware").getByText(`FAILED: ${MARKUP}`).waitFor();
  t.is(await page.locator("img").count(), 0);
  t.is(await page.title(), `${NAME} · Mote console`);
  await page.goto(`${rig.platform().url}/#/`);
  await page.getByRole("link", { name: NAME }).waitFor();
  t.is(await page.locator("img").count(), 0);
  t.deepEqual(errors, []);
});

test("at 360 pixels and in the dark nothing runs out of the page, and one section is shown at a time", async (t) => {
  const one = await device(`narrow-${"x".repeat(120)}`);
  await one.send("telemetry", { [`key-${"k".repeat(100)}`]: "v".repeat(500), temperature: 1 });
  await one.send("attributes", { serial: "s".repeat(300) });
  const { page, errors } = await pageOf(one, { width: 360, dark: true });
  await part(page, "Telemetry").getByText("v".repeat(500)).first().waitFor();
  const fits = async (where: string): Promise<void> => {
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    t.true(width <= 360, `${where}: ${width}`);
  };
  for (const hash of ["#/", "#/updates", "#/faults", `#/device/${one.id}/update`, `#/device/${one.id}`]) {
    await page.goto(rig.platform().url + hash);
    await page.locator("section").first().waitFor();
    await fits(hash);
  }
  const tabs = page.getByRole("navigation", { name: "Sections" });
  for (const name of ["Attributes", "RPC", "Firmware", "Claiming", "Requests", "Telemetry"]) {
    await tabs.getByRole("button", { name }).click();
    await part(page, name).waitFor();
    t.is(await page.locator(".parts > section:visible").count(), 1, name);
    await fits(name);
  }
  await page.goto(`${rig.platform().url}/#/`);
  await page.getByLabel("Sort by").selectOption("newest first");
  await page.waitForURL(/sort=-created/);
  await page.goto(`${rig.platform().url}/#/device/${one.id}`);
  // The whole of a long value opens below its beginning.
  await part(page, "Telemetry").getByText("v".repeat(500)).first().click();
  await part(page, "Telemetry")
    .locator("pre")
    .filter({ hasText: "v".repeat(500), visible: true })
    .waitFor();
  await fits("an opened value");
  await keep(page, "console-narrow-dark");
  t.deepEqual(errors, []);
});

test("the keyboard reaches everything", async (t) => {
  const { page, errors } = await pageOf(await device("keyboard-1"));
  await part(page, "Claiming").getByRole("button", { name: "Claim" }).waitFor();
  const reached = new Set<string>();
  for (let n = 0; n < 60; n++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate<string>('document.activeElement?.textContent ?? ""'));
  }
  for (const name of ["Devices", "Log out", "Call", "Set", "Upload and assign", "Claim", "Save as CSV"])
    t.true(reached.has(name), name);
  t.deepEqual(errors, []);
});

test("a line that breaks is shown, and a platform that started again asks for a login", async (t) => {
  const own = await startPlatform({ port: 0 });
  const { page } = await loggedIn({}, own.url);
  await page.getByText("live", { exact: true }).waitFor();
  await own.close();
  await page.getByText("no line to the platform").waitFor();
  const again = await startPlatform({ port: own.address.port });
  t.teardown(() => again.close());
  await page.getByText("The session has ended: log in again.").waitFor();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  t.pass();
});

test("a device that somebody else deletes leaves the list, and its own page says so", async (t) => {
  const gone = await device("deleted-1");
  await device("deleted-2");
  const { page } = await loggedIn();
  await page.getByLabel("Search").fill("deleted-");
  await page.getByRole("row", { name: /deleted-1/ }).waitFor();
  await rig.operator().devices.delete(gone.id);
  await page.getByRole("row", { name: /deleted-1/ }).waitFor({ state: "detached" });
  await page.getByRole("row", { name: /deleted-2/ }).waitFor();
  t.is(await page.locator("#messages").textContent(), "");
  const other = await device("deleted-3");
  await page.goto(`${rig.platform().url}/#/device/${other.id}`);
  await part(page, "Claiming").getByText("No customer owns this device.").waitFor();
  await rig.operator().devices.delete(other.id);
  await page.getByRole("heading", { name: "No such device", level: 1 }).waitFor();
  t.is(await part(page, "Claiming").count(), 0);
  await page.goto(`${rig.platform().url}/#/`);
  await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
  await page.goto(`${rig.platform().url}/#/device/${gone.id}`);
  await page.getByRole("heading", { name: "No such device", level: 1 }).waitFor();
  t.is(await page.title(), "No such device · Mote console");
  t.is(await page.locator("#messages").textContent(), "");
});

test("a page that stays open goes on live when its token ends, and asks for a login when the session does", async (t) => {
  const clock = new VirtualClock();
  const own = await startPlatform({ port: 0, clock });
  t.teardown(() => own.close());
  const one = await Played.create(own, "long-1");
  const { page } = await loggedIn({}, own.url);
  await page.goto(`${own.url}/#/device/${one.id}`);
  await page.getByText("live", { exact: true }).waitFor();
  clock.advance(9_015_000);
  await page.getByText("no line to the platform").waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  await one.send("telemetry", { note: "hello again" });
  await part(page, "Telemetry").getByRole("cell", { name: "hello again" }).waitFor();
  clock.advance(604_815_000);
  await page.getByText("The session has ended: log in again.").waitFor();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  t.pass();
});
