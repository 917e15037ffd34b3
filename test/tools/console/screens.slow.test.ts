// The console's pages with a fleet of 300 devices, long names and an update in each state: at the
// widths of a desk, a small window and a phone, light and dark, nothing runs out of the page and
// axe finds nothing. The pictures are kept in dist/artifacts.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import anyTest from "ava";
import type { Page } from "playwright-core";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { closeBrowser, inBrowser, keep, openPage } from "./browser.js";
import { type Fleet, LONG_NAME, MovedClock, makeFleet } from "./fleet.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Each violated rule with its first elements; empty if there is none. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
       violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 5).map(({ target }) => target).join(", ")))`,
  );
}

const test = inBrowser(anyTest);
const clock = new MovedClock();
let platform: Platform;
let fleet: Fleet;

anyTest.before(async () => {
  platform = await startPlatform({ port: 0, clock });
  fleet = await makeFleet(platform, clock, 300);
  await fillDevice();
});
anyTest.after.always(async () => {
  await closeBrowser();
  await platform.close();
  clock.close();
});

/** Five minutes of values, long ones too. */
async function fillDevice(): Promise<void> {
  const device = fleet.devices.get(LONG_NAME)!;
  const now = Date.now();
  for (let n = 120; n > 0; n--)
    await device.send("telemetry", {
      ts: now - n * 2_400,
      values: {
        temperature: 21 + 3 * Math.sin(n / 9),
        humidity: 55 + 8 * Math.cos(n / 14),
        "soil.moisture": 0.31 + 0.0004 * n,
        uptime: 88_000 - n * 2,
      },
    });
  await device.send("telemetry", {
    bootTime: now - 86_400_000,
    "a-key-that-nobody-would-have-called-so-but-somebody-did-after-all": 1,
    message: `watering of bed 7 was put off, as the tank is at 12 % and rain is expected; ${"and so on ".repeat(30)}`,
    valve: "closed",
    current_fw_title: "greenhouse",
    current_fw_version: "1.0.0",
  });
  const wifi = { ssid: "greenhouse", rssi: -61 };
  await device.send("attributes", { serial: "A-113-0007", resetReason: "power on", wifi });
  await fleet.operator.attributes.set(device.id, "SHARED_SCOPE", {
    interval: 30,
    night: { from: "21:00", to: "05:30" },
  });
}

/** By name: the address, and what is there when it is drawn. */
function pages(): Record<string, readonly [hash: string, text: string]> {
  const of = (name: string): string => `#/device/${fleet.devices.get(name)?.id ?? ""}`;
  return {
    devices: ["#/", "page 1 of 12"],
    device: [of(LONG_NAME), "Latest values"],
    updates: ["#/updates", "Rolled back 1"],
    "update-rolled-back": [of("update-rolled-back"), "task watchdog"],
  };
}

for (const width of [1440, 768, 390])
  for (const dark of [false, true]) {
    const look = `${width}-${dark ? "dark" : "light"}`;
    test(`at ${width} pixels, ${dark ? "dark" : "light"}, every page fits and is accessible`, async (t) => {
      const { page, errors } = await openPage({ width, dark });
      await page.goto(platform.url);
      t.deepEqual(await violations(page), [], "login");
      await page.getByLabel("User").fill("tenant@thingsboard.org");
      await page.getByLabel("Password").fill("tenant");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Devices" }).waitFor();
      for (const [name, [hash, text]] of Object.entries(pages())) {
        await page.goto(`${platform.url}/${hash}`);
        await page.getByText(text).filter({ visible: true }).first().waitFor();
        if (name === "device") await page.locator("figure canvas").first().waitFor();
        await keep(page, `console-${name}-${look}`);
        const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
        t.true(wide <= width, `${name}: ${wide}`);
        t.deepEqual(await violations(page), [], name);
      }
      t.deepEqual(errors, []);
      await page.context().close();
    });
  }
