// A local platform, a browser that is logged in at it, and how the tests find their way in a page.
import type { Implementation, TestFn } from "ava";
import type { Locator, Page } from "playwright-core";
import type { Operator } from "../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { operatorOf } from "../operator-of.js";
import { ScriptedDevice } from "../scripted-device.js";
import { closeBrowser, inBrowser, openPage } from "./browser.js";

export const TENANT = ["tenant@thingsboard.org", "tenant"] as const;
/** What would become of the page if it were taken for markup. */
export const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

export interface Look {
  width?: number;
  dark?: boolean;
}

export interface Opened {
  page: Page;
  /** What the page's console and scripts complain of. */
  errors: string[];
}

export interface Rig {
  test: (title: string, run: Implementation<[]>) => void;
  platform(): Platform;
  operator(): Operator;
  device(name: string): Promise<ScriptedDevice>;
  loggedIn(look?: Look, url?: string): Promise<Opened>;
  pageOf(device: ScriptedDevice, look?: Look): Promise<Opened>;
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
  const loggedIn = (look: Look = {}, url = platform.url): Promise<Opened> => logIn(url, look);
  return {
    test: inBrowser(anyTest),
    platform: () => platform,
    operator: () => operator,
    device: async (name) => {
      const one = new ScriptedDevice(platform, name);
      devices.push(one);
      return one;
    },
    loggedIn,
    pageOf: async (one, look) => {
      const opened = await loggedIn(look);
      await opened.page.goto(`${platform.url}/#/device/${one.id}`);
      await opened.page.getByRole("heading", { name: "Telemetry", exact: true }).waitFor();
      await opened.page.getByText("live", { exact: true }).waitFor();
      return opened;
    },
  };
}

export async function logIn(url: string, look: Look = {}): Promise<Opened> {
  const { page, errors } = await openPage(look);
  await page.goto(url);
  await page.getByLabel("User").fill(TENANT[0]);
  await page.getByLabel("Password").fill(TENANT[1]);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
  return { page, errors };
}

/** The field that has this label: forms have labels too. */
export function entry(place: Locator, label: string): Locator {
  return place
    .locator("label")
    .filter({
      has: place
        .page()
        .locator("span", { hasText: label })
        .and(place.page().getByText(label, { exact: true })),
    })
    .locator("input, select, textarea");
}

/** The section of that heading. */
export function part(page: Page, name: string): Locator {
  return page.getByRole("region", { name, exact: true });
}

/** Presses the button that a question ends with. */
export async function answer(page: Page, yes: string): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: yes, exact: true }).click();
}
