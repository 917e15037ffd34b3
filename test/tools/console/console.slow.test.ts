// The console, used as a person uses it, in a real browser.
import { createHash } from "node:crypto";
import anyTest from "ava";
import { startPlatform } from "../../../tools/platform/server.js";
import { operatorOf } from "../operator-of.js";
import { VirtualClock } from "../platform/rig.js";
import { platformFor } from "../platform-for.js";
import { ScriptedDevice } from "../scripted-device.js";
import { keep, openPage } from "./browser.js";
import { MovedClock, makeFleet } from "./fleet.js";
import { answer, consoleRig, entry, logIn, MARKUP, part, TENANT } from "./rig.js";

const rig = consoleRig(anyTest);
const { test, device, loggedIn, pageOf } = rig;
/** What the browser says is wrong with a field. */
const PROBLEM = (input: unknown): string => (input as { validationMessage: string }).validationMessage;

test("login reports a wrong password; the right one shows devices with live state", async (t) => {
  const one = await device("list-1");
  const { page, errors } = await openPage();
  await page.goto(rig.platform().url);
  await page.getByLabel("User").fill(TENANT[0]);
  await page.getByLabel("Password").fill("wrong");
  await page.keyboard.press("Enter");
  await page
    .getByRole("form", { name: "Log in" })
    .getByRole("alert")
    .getByText("Wrong user name or password.")
    .waitFor();
  await page.getByLabel("Password").fill(TENANT[1]);
  await page.keyboard.press("Enter");
  const row = page.getByRole("row", { name: /list-1/ });
  // What was said of the first try goes with it.
  await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
  t.is(await page.getByText("Wrong user name or password.").count(), 0);
  await row.getByText("never").waitFor();
  await row.getByText("inactive").waitFor();
  await one.send("telemetry", { a: 1 });
  await row.getByText("active", { exact: true }).waitFor();
  await row.getByText(/ s ago/).waitFor();
  await keep(page, "console-devices");
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  t.deepEqual(errors, ["Failed to load resource: the server responded with a status of 401 (Unauthorized)"]);
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
  t.regex(await entry(set, "Value (JSON)").evaluate(PROBLEM), /Invalid JSON/);
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
  await attributes.getByRole("row", { name: /interval/ }).waitFor({ state: "detached" });
  t.deepEqual(await one.get("attributes?sharedKeys=interval"), {});
  t.deepEqual(errors, []);
});

test("calls RPCs in three ways and shows the answer and its time", async (t) => {
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
  await call("two-way", "setLed", '{"on":true}');
  await rpc.getByText('{"did":"setLed","params":{"on":true}}').first().waitFor();
  await call("one-way", "reboot", "{}");
  await rpc.getByText("sent").waitFor();
  await call("persistent", "calibrate", "[1]");
  await rpc.getByText('SUCCESSFUL {"did":"calibrate","params":[1]}').first().waitFor();
  t.is(await rpc.getByText(/^[\d.]+ m?s$/).count(), 3);
  const list = Array.from({ length: 60 }, (_, n) => ({ n, text: "x".repeat(10) }));
  await call("two-way", "echo", JSON.stringify(list));
  const full = rpc.getByRole("region", { name: "Full answer" }).filter({ hasText: "x".repeat(10) });
  await full.waitFor();
  t.is(await full.textContent(), JSON.stringify({ did: "echo", params: list }, undefined, 2));
  t.deepEqual(errors, []);
});

test("uploads and assigns a dropped image and shows progress and failure", async (t) => {
  const one = await device("firmware-1");
  await one.send("telemetry", { current_fw_title: "pump", current_fw_version: "1.0.0" });
  const { page, errors } = await pageOf(one);
  const firmware = part(page, "Firmware");
  await firmware.getByText("Runs pump 1.0.0.").waitFor();
  const image = Buffer.alloc(300_000, "mote");
  const dropped = await page.evaluateHandle(
    'const transfer = new DataTransfer(); transfer.items.add(new File([new Uint8Array(3)], "dropped.bin")); transfer',
  );
  const text = await page.evaluateHandle(
    'const held = new DataTransfer(); held.setData("text/plain", "no file"); held',
  );
  await firmware.locator(".drop").dispatchEvent("drop", { dataTransfer: dropped });
  await firmware.getByText("dropped.bin, 3 bytes").waitFor();
  await firmware.locator(".drop").dispatchEvent("drop", { dataTransfer: text });
  await page.getByText("Drop a file: what you dropped is not a file.").waitFor();
  await firmware.getByText("dropped.bin, 3 bytes").waitFor();
  // Beside the target the browser would open the file in place of the console.
  const kept = await page.evaluate<boolean[]>(
    '["dragover", "drop"].map((kind) => !document.body.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true })))',
  );
  t.deepEqual(kept, [true, true]);
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
  await firmware.getByText("Failed: the checksum is wrong").waitFor();
  // What comes late is not how it stands: it would make the next press ask.
  await one.send("telemetry", { ts: Date.now() - 60_000, values: { fw_state: "DOWNLOADING", late: 1 } });
  await part(page, "Telemetry").getByRole("row", { name: /^late/ }).waitFor();
  await firmware.getByRole("button", { name: "Unassign pump 2.0.0" }).click();
  await firmware.getByRole("button", { name: "Assign pump 2.0.0", exact: true }).waitFor();
  t.deepEqual(errors, []);
});

test("a device deleted elsewhere leaves the list, and its page says so", async (t) => {
  const deleted = await device("deleted-1");
  const { page } = await loggedIn();
  await page.getByLabel("Search").fill("deleted-");
  await page.getByRole("row", { name: /deleted-1/ }).waitFor();
  await rig.operator().devices.delete(deleted.id);
  await page.getByRole("row", { name: /deleted-1/ }).waitFor({ state: "detached" });
  t.is(await page.locator("#messages").textContent(), "");
  const other = await device("deleted-3");
  await page.goto(`${rig.platform().url}/#/device/${other.id}`);
  await part(page, "Requests").getByText("No requests yet.").waitFor();
  await rig.operator().devices.delete(other.id);
  await page.getByRole("heading", { name: "Device not found", level: 1 }).waitFor();
  t.is(await part(page, "Requests").count(), 0);
  t.is(await page.locator("#messages").textContent(), "");
});

test("an open page renews its token and asks for a login when the session ends", async (t) => {
  const clock = new VirtualClock();
  const own = await platformFor(t, { clock });
  const one = new ScriptedDevice(own, "long-1");
  const { page } = await loggedIn({}, own.url);
  await page.goto(`${own.url}/#/device/${one.id}`);
  await page.getByText("live", { exact: true }).waitFor();
  clock.advance(9_015_000);
  await page.getByText("disconnected").waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  await one.send("telemetry", { note: "hello again" });
  await part(page, "Telemetry").getByRole("cell", { name: "hello again" }).waitFor();
  clock.advance(604_815_000);
  await page.getByText("The session has ended. Log in again.").waitFor();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  t.pass();
});

const FOCUS = 'document.activeElement?.tagName ?? ""';

test("charts show keys with numbers over a range, and leave out time stamps", async (t) => {
  const one = await device("charts-1");
  const now = Date.now();
  for (let n = 30; n > 0; n--)
    await one.send("telemetry", {
      ts: now - n * 1_000,
      values: { temperature: 20 + n, "=humidity": 50 - n, bootTime: now },
    });
  await one.send("telemetry", { ts: now - 1_800_000, values: { temperature: 1, pressure: 9 } });
  const { page, errors } = await pageOf(one);
  const telemetry = part(page, "Telemetry");
  await telemetry.getByRole("figure", { name: /temperature, 30 points, the last is 21/ }).waitFor();
  t.is(await telemetry.locator("figure").count(), 2);
  await one.send("telemetry", { note: "hello" });
  await telemetry.getByRole("cell", { name: "hello" }).waitFor();
  await entry(telemetry, "Show").selectOption("1 hour");
  await telemetry.getByRole("figure", { name: /temperature, 31 points/ }).waitFor();
  t.deepEqual(errors, []);
});

test("pages, sorts and filters 300 devices, and keeps the view over a reload", async (t) => {
  const clock = new MovedClock();
  const platform = await startPlatform({ port: 0, clock });
  t.teardown(async () => {
    await platform.close();
    clock.close();
  });
  await makeFleet(platform, clock, 300);
  const { page, errors } = await logIn(platform.url);
  const list = part(page, "Devices");
  const names = async (): Promise<string[]> => list.locator("tbody tr td:first-child").allTextContents();
  await list.getByText("page 1 of 12").waitFor();
  t.is((await names()).length, 25);
  await page.getByText("300 devices").waitFor();
  await list.getByRole("row", { name: /update-confirmed/ }).waitFor();
  t.is(await list.locator("tbody .dot.on").count(), 6);
  await list.getByRole("button", { name: "Next" }).click();
  await list.getByText("page 2 of 12").waitFor();
  await list.getByRole("row", { name: /sensor-020/ }).waitFor();
  await list.getByRole("button", { name: "Device" }).click();
  await list.getByRole("row", { name: /greenhouse-north/ }).waitFor();
  await list.getByText("page 1 of 12").waitFor();
  await list.getByRole("button", { name: "Device" }).click();
  await list.getByRole("row", { name: /update-verified/ }).waitFor();
  t.is((await names())[0], "update-verified");
  t.is(await list.getByRole("columnheader", { name: "Device" }).getAttribute("aria-sort"), "descending");
  await list.getByLabel("State").selectOption("inactive");
  await page.getByText("294 devices").waitFor();
  await list.getByLabel("Search").fill("sensor-1");
  await page.getByText("100 devices").waitFor();
  await list.getByText("page 1 of 4").waitFor();
  await page.reload();
  await page.getByText("100 devices").waitFor();
  t.is((await names())[0], "sensor-199");
  await list.getByLabel("Search").fill("no-such");
  await page.getByText("No inactive device has “no-such” in its name.").waitFor();
  t.deepEqual(errors, []);
});

test("a deletion asks, and deletes at once", async (t) => {
  const stays = await device("delete-stays");
  const goes = await device("delete-goes");
  const { page, errors } = await loggedIn();
  await page.getByLabel("Search").fill("delete-");
  const ask = (name: string): Promise<void> => page.getByRole("button", { name: `Delete ${name}` }).click();
  await ask("delete-stays");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await ask("delete-stays");
  await answer(page, "Cancel");
  await ask("delete-goes");
  await answer(page, "Delete");
  await page.getByText("Deleted device delete-goes.").waitFor();
  await page.getByRole("row", { name: /delete-goes/ }).waitFor({ state: "detached" });
  await t.throwsAsync(rig.operator().devices.get(goes.id));
  await t.notThrowsAsync(rig.operator().devices.get(stays.id));
  t.deepEqual(errors, []);
});

test("reports a deletion that the platform refuses as not done", async (t) => {
  await device("refused-1");
  const { page } = await loggedIn();
  await page.getByLabel("Search").fill("refused-1");
  await page.route("**/api/device/*", (route) =>
    route.request().method() === "DELETE"
      ? route.fulfill({ status: 400, json: { message: "it is in use" } })
      : route.continue(),
  );
  await page.getByRole("button", { name: "Delete refused-1" }).click();
  await answer(page, "Delete");
  await page.getByText("Could not delete device refused-1: it is in use").waitFor();
  await page.getByRole("button", { name: "Delete refused-1" }).waitFor();
  t.is(await page.getByText("Deleted device").count(), 0);
});

test("guards fw_* during an update and hides packages of other profiles", async (t) => {
  const one = await device("guard-1");
  const operator = rig.operator();
  const { deviceProfileId } = await operator.devices.get(one.id);
  const other = await operator.profiles.save({
    name: "another profile",
    type: "DEFAULT",
    transportType: "DEFAULT",
    profileData: { configuration: { type: "DEFAULT" }, transportConfiguration: { type: "DEFAULT" } },
  });
  for (const [version, profile] of [
    ["1.5.0", deviceProfileId?.id],
    ["6.6.6", other.id.id],
  ] as const)
    await operator.ota.create({
      ...{ title: "guarded", version, deviceProfileId: profile ?? "" },
      externalFile: { url: "https://files.example/1", dataSize: 50_000_000 },
    });
  // Its entry is there, and no file.
  await operator.ota.create({
    title: "guarded",
    version: "0.0.0",
    deviceProfileId: deviceProfileId?.id ?? "",
  });
  await operator.attributes.set(one.id, "SHARED_SCOPE", { fw_signature: "abc" });
  await one.send("telemetry", { fw_state: "DOWNLOADING" });
  const { page, errors } = await pageOf(one);
  const firmware = part(page, "Firmware");
  await firmware.getByRole("row", { name: /guarded 1\.5\.0 50 MB/ }).waitFor();
  t.is(await firmware.getByText(/6\.6\.6|0\.0\.0/).count(), 0);
  const attributes = part(page, "Attributes");
  const declines = async (): Promise<void> => {
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/An update is running \(Downloading\)/).waitFor();
    await answer(page, "Cancel");
  };
  await attributes.getByRole("button", { name: "Delete fw_signature" }).click();
  await declines();
  await attributes.getByRole("button", { name: "Edit fw_signature" }).click();
  await entry(attributes, "Value (JSON)").fill('"other"');
  await attributes.getByRole("button", { name: "Set", exact: true }).click();
  await declines();
  await firmware.getByRole("button", { name: "Assign guarded 1.5.0" }).click();
  await declines();
  t.deepEqual(await operator.attributes.get(one.id, "SHARED_SCOPE"), { fw_signature: "abc" });
  // Other attributes are set without a question, and these when the update has ended.
  await one.send("telemetry", { fw_state: "FAILED" });
  await attributes.getByRole("button", { name: "Set", exact: true }).click();
  await attributes.getByRole("row", { name: /fw_signature other/ }).waitFor();
  t.deepEqual(errors, []);
});

test("an update is followed step by step, and the fleet's counts with it", async (t) => {
  const one = await device("picture-1");
  const operator = rig.operator();
  const { deviceProfileId } = await operator.devices.get(one.id);
  const pack = await operator.ota.create({
    ...{ title: "picture", version: "2.0.0", deviceProfileId: deviceProfileId?.id ?? "" },
    externalFile: { url: "https://files.example/2", dataSize: 50_000_000 },
  });
  const { page, errors } = await pageOf(one);
  await page.getByRole("link", { name: "Update step by step" }).click();
  await page.getByRole("heading", { name: "picture-1", level: 1 }).waitFor();
  await page.getByText("No update was reported.").waitFor();
  const step = (name: string) => page.locator(".steps li").filter({ hasText: name });
  const state = (name: string): Promise<string | null> => step(name).getAttribute("data-state");
  await operator.ota.assign(one.id, pack.id.id);
  await page.getByText("Assigned: picture 2.0.0, 50 MB.").waitFor();
  await page.getByText("The update is assigned and has not started.").waitFor();
  const now = Date.now() + 2_000;
  const say = (seconds: number, values: object): Promise<void> =>
    one.send("telemetry", { ts: now + seconds * 1_000, values });
  await say(0, { fw_state: "DOWNLOADING", fw_error: "", current_fw_version: "1.0.0" });
  await say(10, { fw_progress: 10 });
  await say(20, { fw_progress: 30 });
  await step("Downloading").getByText("30 %, 15 MB of 50 MB, 1 MB/s, 35 s left").waitFor();
  t.is(await state("Assigned"), "done");
  t.is(await state("Downloading"), "now");
  const { page: fleet } = await loggedIn();
  await fleet.getByRole("link", { name: "Updates" }).click();
  await fleet.getByRole("button", { name: "Downloading 1" }).click();
  await fleet.getByRole("row", { name: /picture-1 1\.0\.0 2\.0\.0 Downloading 30 %/ }).waitFor();
  await say(30, { fw_state: "DOWNLOADED", fw_error: "" });
  await say(31, { fw_state: "VERIFIED", fw_error: "" });
  await say(32, { fw_state: "UPDATING", fw_error: "" });
  await page.getByText("the new image must reach the platform").waitFor();
  t.is(await state("Verified"), "done");
  t.is(await state("On trial"), "now");
  await fleet.getByRole("button", { name: "On trial 1" }).waitFor();
  await fleet.getByText("No device is in this state.").waitFor();
  await say(40, { fw_state: "FAILED", fw_error: "the new image did not start (panic)" });
  await step("Rolled back").getByText("the new image did not start (panic)").waitFor();
  t.is(await state("Rolled back"), "failed");
  await fleet.getByRole("button", { name: "Rolled back 1" }).click();
  const row = fleet.getByRole("row", { name: /picture-1/ });
  await row.getByText("the new image did not start (panic)").first().waitFor();
  await say(50, { fw_state: "DOWNLOADING", fw_error: "" });
  await say(60, { fw_state: "VERIFIED", fw_error: "" });
  await say(61, { fw_state: "UPDATING", fw_error: "" });
  await say(70, { fw_state: "UPDATED", fw_error: "", current_fw_version: "2.0.0" });
  await page.getByText("The new image is confirmed. It failed once before.").waitFor();
  t.is(await state("Confirmed"), "done");
  await fleet.getByRole("button", { name: "Confirmed 1" }).waitFor();
  t.deepEqual(errors, []);
});

test("each page has a title and a focused h1; an unknown address says so", async (t) => {
  const one = await device("focus-1");
  const { page, errors } = await loggedIn();
  const places = {
    "#/updates": "Updates",
    [`#/device/${one.id}`]: "focus-1",
    [`#/device/${one.id}/update`]: "focus-1",
    "#/device/00000000-0000-4000-8000-000000000000": "Device not found",
    "#/no/such/page": "Page not found",
    "#/": "Devices",
  };
  for (const [hash, name] of Object.entries(places)) {
    await page.goto(rig.platform().url + (hash === "#/" ? "/#/?" : `/${hash}`));
    await page.getByRole("heading", { name, level: 1, exact: true }).waitFor();
    t.is(await page.locator("h1").count(), 1, hash);
    t.is(await page.title(), `${name} · Mote console`);
    t.is(await page.evaluate<string>(FOCUS), "H1", hash);
  }
  await page.keyboard.press("/");
  t.is(await page.evaluate<string>(FOCUS), "INPUT");
  await page.keyboard.type("focus/");
  t.is(await page.getByLabel("Search").inputValue(), "focus/");
  t.deepEqual(errors, ["Failed to load resource: the server responded with a status of 404 (Not Found)"]);
});

test("shows a device's markup as text on every page", async (t) => {
  const one = await device("hostile-1");
  void one.answer(() => ({ [MARKUP]: MARKUP }));
  await one.send("attributes", { serial: MARKUP });
  await one.send(`attributes?${encodeURIComponent(MARKUP)}`, { a: MARKUP });
  await rig.operator().attributes.set(one.id, "SHARED_SCOPE", { mode: MARKUP });
  const { page, errors } = await loggedIn();
  const id = { entityType: "DEVICE", id: one.id };
  const value = (text: string): object => ({ ts: Date.now(), value: text });
  await page.route("**/api/entitiesQuery/find", (route) =>
    route.fulfill({
      json: {
        ...{ totalElements: 1, totalPages: 1, hasNext: false },
        data: [
          {
            entityId: id,
            latest: {
              ENTITY_FIELD: { name: value(MARKUP), type: value(MARKUP) },
              TIME_SERIES: {
                fw_state: value("FAILED"),
                fw_error: value(MARKUP),
                current_fw_version: value(MARKUP),
              },
              SHARED_ATTRIBUTE: { fw_version: value(MARKUP) },
              SERVER_ATTRIBUTE: { active: value("true") },
            },
          },
        ],
      },
    }),
  );
  await page.route(`**/api/device/${one.id}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), name: MARKUP } });
  });
  await page.route("**/api/requests", (route) =>
    route.fulfill({
      json: [
        {
          ...{ ts: 1, method: MARKUP, path: MARKUP, device: MARKUP, status: 503, durationMs: 1 },
          ...{ faults: [MARKUP], body: MARKUP },
        },
      ],
    }),
  );
  await one.send("telemetry", {
    fw_state: "FAILED",
    fw_error: MARKUP,
    current_fw_title: MARKUP,
    current_fw_version: MARKUP,
    'a"onerror=x': MARKUP,
    object: { [MARKUP]: 1 },
  });
  const shown = async (hash: string): Promise<void> => {
    await page.goto(`${rig.platform().url}/${hash}`);
    await page.getByText(MARKUP).filter({ visible: true }).first().waitFor();
    t.is(await page.locator("img").count(), 0, hash);
    t.is(await page.locator("main script").count(), 0, hash);
    t.regex(await page.title(), /Mote console$/, hash);
  };
  for (const hash of ["#/updates", `#/device/${one.id}/update`]) await shown(hash);
  await page.goto(`${rig.platform().url}/#/device/${one.id}`);
  for (const name of ["Telemetry", "Attributes", "Firmware", "Requests"])
    await part(page, name).getByText(MARKUP).first().waitFor();
  await entry(part(page, "RPC"), "Method").fill(MARKUP);
  await page.getByRole("button", { name: "Call" }).click();
  await part(page, "RPC")
    .getByText(`{"${MARKUP.replaceAll('"', '\\"')}"`)
    .first()
    .waitFor();
  await shown("#/?");
  await page.getByRole("button", { name: `Delete ${MARKUP}` }).click();
  await page.getByRole("dialog").getByText(MARKUP).waitFor();
  t.deepEqual(errors.splice(0), []);
  await page.route("**/api/device/*", (route) =>
    route.request().method() === "DELETE"
      ? route.fulfill({ status: 400, json: { message: MARKUP } })
      : route.continue(),
  );
  await answer(page, "Delete");
  await page.locator("#messages").getByText(MARKUP).first().waitFor();
  t.is(await page.locator("img").count(), 0);
  t.deepEqual(errors, ["Failed to load resource: the server responded with a status of 400 (Bad Request)"]);
});

test("adds a device, and shows its token and a command only after a click", async (t) => {
  await device("added-before");
  const { page, errors } = await loggedIn();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Add device" }).click();
  const dialog = page.getByRole("dialog");
  await entry(dialog, "Name").fill("added-before");
  await page.keyboard.press("Enter");
  await dialog
    .getByRole("alert")
    .getByText(/already exists/)
    .waitFor();
  await entry(dialog, "Name").fill("added-1");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "added-1 is added" }).waitFor();
  const added = await rig.operator().devices.byName("added-1");
  const { credentialsId: token } = await rig.operator().devices.credentials(added?.id.id ?? "");
  t.false((await page.content()).includes(token));
  await dialog.getByRole("button", { name: "Show access token" }).click();
  await dialog.getByText(token, { exact: true }).waitFor();
  const command = `MOTE_TOKEN=${token} npx mote-cli run --url ${rig.platform().url}`;
  await dialog.getByText(command, { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Copy the command" }).click();
  await page.getByText("Copied the command.").waitFor();
  t.is(await page.evaluate<string>("navigator.clipboard.readText()"), command);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  t.false((await page.content()).includes(token));
  await page.goto(`${rig.platform().url}/#/device/${added?.id.id}`);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByRole("dialog", { name: "Connect added-1" }).waitFor();
  t.false((await page.content()).includes(token));
  t.deepEqual(errors, ["Failed to load resource: the server responded with a status of 400 (Bad Request)"]);
});

test("a customer's login shows its devices, and says what it may not do", async (t) => {
  const one = await device("customers-1");
  one.device.customerId = (await (await operatorOf(rig.platform(), "customer")).user()).customerId?.id;
  await one.send("telemetry", { a: 1 });
  const { page, errors } = await openPage();
  await page.goto(rig.platform().url);
  await page.getByLabel("User").fill("customer@thingsboard.org");
  await page.getByLabel("Password").fill("customer");
  await page.keyboard.press("Enter");
  await page.getByText(/^A customer's login: it shows the customer's devices/).waitFor();
  await page.getByText("not live", { exact: true }).waitFor();
  t.is(await page.getByRole("button", { name: /Add device|Delete/ }).count(), 0);
  await page.getByRole("link", { name: "customers-1" }).click();
  await part(page, "RPC").waitFor();
  t.is(await page.getByRole("button", { name: /Delete|Connect|Edit/ }).count(), 0);
  t.is(await part(page, "Firmware").count(), 0);
  t.is(await page.locator("#messages p").count(), 0);
  t.deepEqual(
    new Set(errors),
    new Set(["Failed to load resource: the server responded with a status of 403 (Forbidden)"]),
  );
});

test("a device's label is edited, an RPC's error is red, and other bytes are named", async (t) => {
  const one = await device("label-1");
  const { operator, platform } = rig;
  const profileId = platform().core.profiles.default.id;
  const { id } = await operator().ota.create({
    title: "bytes",
    version: "1.0.0",
    deviceProfileId: profileId,
  });
  await operator().ota.upload(id.id, Buffer.from("image"));
  await operator().ota.assign(one.id, id.id);
  const reports = {
    current_fw_title: "bytes",
    current_fw_version: "1.0.0",
    current_fw_checksum: "abcdef0123456789",
  };
  await one.send("telemetry", reports);
  void one.answer(() => ({ error: { code: "METHOD_NOT_FOUND" } }));
  const { page, errors } = await pageOf(one);
  await part(page, "Firmware")
    .getByText(/These are other bytes .*checksum abcdef012345…/)
    .first()
    .waitFor();
  t.is(await part(page, "Attributes").getByRole("button", { name: "Edit fw_checksum" }).count(), 0);
  await page.getByRole("button", { name: "Edit label" }).click();
  await page.getByRole("dialog").getByLabel("Label", { exact: true }).last().fill("by the door");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.locator(".head").getByText("by the door").waitFor();
  t.is((await operator().devices.get(one.id)).label, "by the door");
  const rpc = part(page, "RPC");
  await entry(rpc, "Method").fill("setLed");
  await rpc.getByRole("button", { name: "Call" }).click();
  await rpc
    .locator("td .bad")
    .getByText(/METHOD_NOT_FOUND/)
    .waitFor();
  t.deepEqual(errors, []);
});

test("reads the device's own log, and says when the device keeps none", async (t) => {
  const one = await device("log-1");
  const lines = [
    [0.5, "info", "started"],
    [3, "warn", MARKUP],
  ];
  const log = { build: null, uptime: 9, lines };
  let answer: unknown = log;
  void one.answer(() => answer);
  const { page, errors } = await pageOf(one);
  const place = part(page, "Log");
  await place.getByRole("button", { name: "Read the log" }).click();
  await place.getByRole("row", { name: /^\d\d:\d\d:\d\d info started$/ }).waitFor();
  await place.getByText("Up 9 s.").waitFor();
  t.is(await page.locator("img").count(), 0);
  answer = { error: { code: "METHOD_NOT_FOUND" } };
  await place.getByRole("button", { name: "Read the log" }).click();
  await place.getByText("This firmware keeps no log.").waitFor();
  t.deepEqual(errors, []);
});

test("a phone shows one section at a time and one line per value", async (t) => {
  const one = await device(`lines-${"x".repeat(120)}`);
  const long = "a text that is longer than its column ".repeat(13);
  await one.send("telemetry", { temperature: 21.5, note: long });
  await one.send("attributes", { serial: long });
  const { page, errors } = await pageOf(one, { width: 360, dark: true });
  const heights = (name: string): Promise<number[]> =>
    page
      .getByRole("table", { name })
      .locator("tbody tr")
      .evaluateAll((rows) => rows.map((row) => (row as unknown as { offsetHeight: number }).offsetHeight));
  await page.getByRole("row", { name: /^note/ }).waitFor();
  const lines = await heights("Latest values");
  const tabs = page.getByRole("navigation", { name: "Sections" });
  for (const name of ["Attributes", "RPC", "Firmware", "Log", "Requests", "Telemetry"]) {
    await tabs.getByRole("button", { name }).click();
    await part(page, name).waitFor();
    t.is(await page.locator(".parts section:visible").count(), 1, name);
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    t.true(width <= 360, `${name}: ${width}`);
    if (name === "Attributes") lines.push(...(await heights("client attributes")));
  }
  await one.send("telemetry", { fw_state: "FAILED", fw_error: "the new image did not start (panic)" });
  await page.goto(`${rig.platform().url}/#/device/${one.id}/update`);
  await page.getByText("Rolled back: the new image").first().waitFor();
  for (const height of [...lines, ...(await heights("Reports"))])
    t.true(height > 0 && height <= 36, `${height}`);
  t.is(lines.length, 3);
  await page.goto(`${rig.platform().url}/#/`);
  await page.getByLabel("Sort by").selectOption("newest first");
  await page.waitForURL(/sort=-created/);
  t.deepEqual(errors, []);
});

test("the keyboard reaches everything", async (t) => {
  const { page, errors } = await pageOf(await device("keyboard-1"));
  await part(page, "RPC").getByRole("button", { name: "Call" }).waitFor();
  const reached = new Set<string>();
  for (let n = 0; n < 60; n++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate<string>('document.activeElement?.textContent ?? ""'));
  }
  for (const name of ["Devices", "Log out", "Call", "Set", "Upload and assign"])
    t.true(reached.has(name), name);
  t.deepEqual(errors, []);
});
