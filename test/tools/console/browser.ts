// A real browser, if the machine has one: MOTE_CHROMIUM, or Debian's or Chrome's usual places.
import { existsSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Implementation, TestFn } from "ava";
import { type Browser, chromium, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const ARTIFACTS = fileURLToPath(new URL("../../../dist/artifacts", import.meta.url));

const executablePath = [process.env.MOTE_CHROMIUM ?? "", ...PLACES].find((path) => existsSync(path));

/**
 * Declares a test in the browser. Without one it is skipped and its title says so, unless
 * MOTE_REQUIRE_CHROMIUM is set.
 */
export function inBrowser(test: TestFn): (title: string, run: Implementation<[]>) => void {
  if (executablePath !== undefined || process.env.MOTE_REQUIRE_CHROMIUM) return test.serial;
  return (title, run) => test.skip(`${title} (no Chromium on this machine; MOTE_CHROMIUM names one)`, run);
}

let browser: Browser | undefined;

/** A page with a session of its own; `errors` collects what its console and scripts complain of. */
export async function openPage(
  options: { width?: number; dark?: boolean; script?: boolean } = {},
): Promise<{ page: Page; errors: string[] }> {
  if (executablePath === undefined) throw new Error("there is no Chromium: set MOTE_CHROMIUM");
  // The sandbox needs rights that containers don't have; nothing but the local platform's own page
  // is opened.
  browser ??= await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 900 },
    colorScheme: options.dark ? "dark" : "light",
    javaScriptEnabled: options.script ?? true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  return { page, errors };
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
}

/** Kept in dist/artifacts. */
export async function keep(page: Page, name: string): Promise<void> {
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: `${ARTIFACTS}/${name}.png`, fullPage: true });
}
