// A local platform, a browser that is logged in at it, and how the tests find their way in a page.
import type { Implementation, TestFn } from "ava";
import type { Locator, Page } from "playwright-core";
import type { Operator } from "../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { operatorOf } from "../operator-of.js";
import { ScriptedDevice } from "../scripted-device.js";
import { closeBrowser, inBrowser, openPage } from "./browser.js";

/** What would become of the page if it were taken for markup. */
export const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

export interface Opened {
  page: Page;
  /** What the page's console and scripts complain of. */
  errors: string[];
}

export interface Rig {
  test: (title: string, run: Implementation<[]>) => void;
  platform(): Platform;
  operator(): Operator;
  device(name: string): ScriptedDevice;
  pageOf(device: ScriptedDevice): Promise<Opened>;
}

/** For one file of tests: begun before them, ended after. */
export function consoleRig(anyTest: TestFn): Rig {
  let platform: Platform;
  let operator: Operator;
  const devices: ScriptedDevice[] = [];
  anyTest.before(async () => {
    platform = await startPlatform({ port: 0 });
    operator = await operatorOf(platform);
  });
  anyTest.after.always(async () => {
    for (const one of devices) one.end();
    await closeBrowser();
    await platform.close();
  });
  return {
    test: inBrowser(anyTest),
    platform: () => platform,
    operator: () => operator,
    device: (name) => {
      const one = new ScriptedDevice(platform, name);
      devices.push(one);
      return one;
    },
    pageOf: async ({ id }) => {
      const opened = await logIn(platform.url);
      await opened.page.goto(`${platform.url}/#/device/${id}`);
      await part(opened.page, "Telemetry").waitFor();
      return opened;
    },
  };
}

export async function fillLogin(page: Page, user: string, password: string): Promise<void> {
  await page.getByLabel("User").fill(`${user}@thingsboard.org`);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
}

export async function logIn(url: string, user = "tenant"): Promise<Opened> {
  const { page, errors } = await openPage();
  await page.goto(url);
  await fillLogin(page, user, user);
  await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
  return { page, errors };
}

/** Fills the named fields of the only form there, and sends it. */
export async function send(place: Locator, fields: Readonly<Record<string, string>>): Promise<void> {
  const form = place.locator("form");
  for (const [name, text] of Object.entries(fields)) await form.locator(`[name=${name}]`).fill(text);
  await form.locator("button").first().click();
}

/** The section of that heading. */
export function part(page: Page, name: string): Locator {
  return page.getByRole("region", { name, exact: true });
}

/** Presses the button that a question ends with. */
export async function answer(page: Page, yes: string): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: yes, exact: true }).click();
}
