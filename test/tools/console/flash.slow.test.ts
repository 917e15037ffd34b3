// "Flash a board" in a real browser. Its serial port is wired to the device's code: the board runs already, and the page gives it a Wi-Fi.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import type { Page } from "playwright-core";
import { Improv } from "../../../extras/commissioning/improv.js";
import { FrameReader } from "../../../extras/commissioning/improv-frames.js";
import { writeWebInstall } from "../../../tools/moddable/esp32/web-install.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { rig, URL } from "../../extras/commissioning/rig.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { imageOf, ROWS } from "../moddable/board.js";
import { platformFor } from "../platform-for.js";
import { rawRequest } from "../raw-http.js";
import { scratch } from "../scratch.js";
import { ScriptedDevice } from "../scripted-device.js";
import { closeBrowser, inBrowser, keep, openPage } from "./browser.js";
import { logIn } from "./rig.js";

const browserTest = inBrowser(test);
const folder = scratch();
let platform: Platform;

test.before(async () => {
  writeFileSync(join(folder, "outside"), "");
  writeWebInstall(
    imageOf({ chip: "esp32c3" }),
    { name: "greenhouse", version: "1.2.0" },
    join(folder, "web"),
  );
  platform = await startPlatform({ port: 0, flashPage: join(folder, "web") });
});

test.after.always(async () => {
  await closeBrowser();
  await platform?.close();
});

/** A port in place of the browser's: what the page writes goes to `toDevice`, what the device sends is handed to `fromDevice` of the page. */
const FAKE_SERIAL = `
  let controller, outgoing, isGone = false;
  const serial = new EventTarget();
  window.fromDevice = (bytes) => controller?.enqueue(new Uint8Array(bytes));
  // As the browser does when the cable, or the chip's own USB, is gone; then as it is back.
  const lost = new DOMException("The device has been lost.", "NetworkError");
  window.portGoes = () => {
    isGone = true;
    controller?.error(lost);
    outgoing?.error(lost);
    port.readable = port.writable = null;
    serial.dispatchEvent(new Event("disconnect"));
  };
  window.portComes = () => {
    isGone = false;
    serial.dispatchEvent(new Event("connect"));
  };
  const port = {
    readable: null, writable: null,
    getInfo: () => ({ usbVendorId: 0x303a, usbProductId: 0x1001 }),
    setSignals: async () => { if (isGone) throw lost; }, getSignals: async () => ({}),
    addEventListener() {}, removeEventListener() {},
    async open() {
      if (isGone) throw lost;
      port.readable = new ReadableStream({ start: (one) => { controller = one; } });
      port.writable = new WritableStream({ start: (one) => { outgoing = one; }, write: (bytes) => { void window.toDevice([...bytes]); } });
    },
    async close() { port.readable = port.writable = null; },
  };
  Object.defineProperty(navigator, "serial", { value: Object.assign(serial, { requestPort: async () => port, getPorts: async () => [port] }) });
`;

browserTest("gives a running board a Wi-Fi over serial, and links to the device", async (t) => {
  const { page, errors } = await openPage({ width: 1024 });
  const { commissioning, entry, host } = rig({ before: { url: URL, key: KEY, secret: SECRET } });
  const name = "mote-240ac4000102";
  const place = `${platform.url}/entities/devices?textSearch=${name}`;
  let sent = Promise.resolve();
  const improv = new Improv({
    host,
    write: (bytes) => {
      sent = sent.then(() =>
        page.evaluate(
          (all) => (globalThis as never as { fromDevice(b: number[]): void }).fromDevice(all),
          [...bytes],
        ),
      );
    },
    info: ["greenhouse", "1.2.0", "ESP32-C3", name],
    url: () => place,
    entry,
    scan: (found, done) => {
      found({ ssid: "home", rssi: -48, secured: true });
      found({ ssid: "guests", rssi: -71, secured: false });
      done();
    },
  });
  commissioning.entry(() => improv.changed());
  const reader = new FrameReader(
    host.clock,
    () => {},
    (kind, data) => improv.frame(kind, data),
  );
  await page.addInitScript(FAKE_SERIAL);
  await page.exposeFunction("toDevice", (bytes: number[]) => reader.feed(Uint8Array.from(bytes)));
  await page.goto(`${platform.url}/flash`);
  await page.getByText("greenhouse 1.2.0, for ESP32-C3.").waitFor();
  await page.getByText(/Boards with this chip: .*WEMOS LOLIN C3 mini/).waitFor();
  await keep(page, "flash");
  await page.getByRole("button", { name: "Connect a board" }).click();
  await page.getByText("Connect to Wi-Fi").click();
  await page
    .getByLabel(/Password/)
    .first()
    .fill("correct horse");
  await keep(page, "flash-wifi");
  await page.getByText("Connect", { exact: true }).last().click();
  // Its clock stands still but for this.
  await t.notThrowsAsync(
    host.clock.runUntil(() => commissioning.state !== "open" && commissioning.state !== "checking"),
  );
  await page.getByText("Visit Device").first().waitFor();
  const link = page.locator("ewt-install-dialog a[href]").first();
  t.is(await link.getAttribute("href"), place);
  await keep(page, "flash-done");
  // The board restarts with what it was given: whoever reads still may go on.
  await host.clock.advance(11_000);
  await sent;
  t.is(commissioning.state, "closed");
  await new Promise((go) => setTimeout(go, 500));
  t.is(await link.getAttribute("href", { timeout: 1000 }).catch(() => "gone"), place);
  t.deepEqual(errors, []);
  await page.close();
  const device = new ScriptedDevice(platform, name);
  t.teardown(() => device.end());
  await device.send("telemetry", { temperature: 21.5 });
  const { page: there } = await logIn(platform.url, { width: 1024 });
  await there.goto(place);
  await there.getByRole("link", { name }).waitFor();
  await keep(there, "flash-device");
  await there.close();
  const search = await fetch(place, { redirect: "manual" });
  t.deepEqual([search.status, search.headers.get("location")], [302, `/#/?search=${name}`]);
});

browserTest("warns of a board with another partition table, and erases it first", async (t) => {
  const web = join(folder, "moved");
  for (const [version, rows] of [
    ["1.1.0", ROWS],
    ["1.2.0", ROWS.slice(0, 4)],
  ] as const)
    writeWebInstall(imageOf({ chip: "esp32c3", rows }), { name: "greenhouse", version }, web);
  const moved = await platformFor(t, { flashPage: web });
  const { page, connect } = await atPort(t, answers(), moved.url);
  await page.getByRole("alert").getByText("greenhouse 1.1.0.").waitFor();
  await page.getByText("On a board with 1.1.0 first: esptool erase-flash").waitFor();
  await keep(page, "flash-table");
  await connect();
  await page.getByText("Install greenhouse").click();
  await t.notThrowsAsync(page.getByText("All data on the device will be erased").waitFor());
});

/** The flash page, at a port whose board answers by `answer`. */
async function atPort(
  t: ExecutionContext,
  answer: (bytes: Uint8Array) => Uint8Array | undefined,
  url = platform.url,
) {
  const { page } = await openPage({ width: 1024 });
  t.teardown(() => page.close());
  const call = (name: string, ...given: unknown[]) =>
    page.evaluate(
      ([what, all]) => (globalThis as never as Record<string, (...b: unknown[]) => void>)[what]!(...all),
      [name, given] as const,
    );
  await page.addInitScript(FAKE_SERIAL);
  await page.exposeFunction("toDevice", (bytes: number[]) => {
    const answered = answer(Uint8Array.from(bytes));
    if (answered) void call("fromDevice", [...answered]).catch(() => {});
  });
  await page.goto(`${url}/flash`);
  const connect = () => page.getByRole("button", { name: "Connect a board" }).click();
  const dialog = page.locator("ewt-install-dialog");
  const close = () =>
    dialog
      .locator("ew-icon-button")
      .or(dialog.getByText("Close", { exact: true }))
      .first()
      .click();
  return { page, dialog, call, connect, close };
}

/** What a dialog says is a text of its own in its part of the page, where no locator looks. */
const shows = (page: Page, text: string) =>
  page.waitForFunction((wanted) => {
    const { document } = globalThis as never as { document: { querySelector(name: string): Shadow | null } };
    const message = document
      .querySelector("ewt-install-dialog")
      ?.shadowRoot?.querySelector("ewt-page-message");
    return message?.shadowRoot?.textContent?.includes(wanted);
  }, text);
interface Shadow {
  readonly shadowRoot?: { readonly textContent?: string; querySelector(name: string): Shadow | null };
}

/** Improv of a board that waits for its Wi-Fi, without a clock of its own. */
function improvOf(send: (bytes: Uint8Array) => void) {
  const { entry, host } = rig({ before: { url: URL, key: KEY, secret: SECRET } });
  const improv = new Improv({
    ...{ host, entry, url: () => "", write: send },
    info: ["greenhouse", "1.1.0", "ESP32-C3", "mote-1"],
    scan: (_, done) => done(),
  });
  return improv.reader(host.clock);
}

function answers() {
  let waiting: Uint8Array[] = [];
  const read = improvOf((bytes) => waiting.push(bytes));
  return (bytes: Uint8Array): Uint8Array => {
    waiting = [];
    read(bytes);
    return Buffer.concat(waiting);
  };
}

browserTest("gives advice when a port goes away, and reports its return", async (t) => {
  const { page, call, connect, close } = await atPort(t, answers());
  await connect();
  await page.getByText("Connect to Wi-Fi").waitFor();
  t.false(await page.locator("#port").isVisible());
  await call("portGoes");
  await shows(page, "Disconnected");
  await close();
  await page
    .getByRole("status")
    .getByText(/choose the port once it is back/)
    .waitFor();
  await page.getByText(/"Disconnected"\)/).waitFor();
  await keep(page, "flash-port-away");
  await call("portComes");
  await page.getByText(/A port is back: "Connect a board" has it/).waitFor();
  await connect();
  await page.getByText("Connect to Wi-Fi").waitFor();
});

for (const [what, answer] of [
  ["stays in its download mode", () => Buffer.from("\r\nwaiting for download\r\n")],
  ["does not answer", () => undefined],
] as const)
  browserTest(`gives advice after the dialog if a board ${what}`, async (t) => {
    const { page, connect, close } = await atPort(t, answer);
    await connect();
    await page.getByText("Install greenhouse").waitFor();
    t.is(await page.getByText("Connect to Wi-Fi").count(), 0);
    await close();
    await page.getByText(/stays in its download mode\. Let go of BOOT and press RESET/).waitFor();
    await page.getByText(/does not answer, or not yet\. Press RESET/).waitFor();
  });

test("serves the flash page and its images to localhost only, and nothing else", async (t) => {
  const status = async (path: string, headers = {}) =>
    (await rawRequest({ ...platform.address, path: `/flash/${path}`, headers })).status;
  const image = "firmware/esp32c3/xs_esp32.bin";
  t.is(await status(image), 200);
  t.is(await status(image, { "x-forwarded-for": "192.0.2.1" }), 403);
  for (const path of [
    "firmware/..%2Foutside",
    "firmware/esp32c3/..%2Fmanifest.json",
    "firmware/esp32c3/.",
    "firmware/esp32c3/none.bin",
    "firmware/esp32c3/%00",
    "tools/..%2F..%2Fpackage.json",
  ])
    t.true([400, 404].includes(await status(path)), path);
});
