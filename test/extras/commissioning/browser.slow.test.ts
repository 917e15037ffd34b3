// The page in a real browser, as wide as a phone, without scripts.
import { createServer } from "node:net";
import anyTest, { type ExecutionContext } from "ava";
import type { Page } from "playwright-core";
import { Commissioning } from "../../../extras/commissioning/commissioning.js";
import { PageServer } from "../../../extras/commissioning/page-server.js";
import type { Finding, Values } from "../../../extras/commissioning/values.js";
import { clock } from "../../../hosts/node/clock.js";
import { decode, encode } from "../../../hosts/node/text.js";
import { FakeClock } from "../../fakes/clock.js";
import { seededRandom } from "../../fakes/host.js";
import { listen } from "../../fakes/listen.js";
import { closeBrowser, inBrowser, keep, openPage } from "../../tools/console/browser.js";
import { GOOD, PROOF } from "./rig.js";
import { Visitor } from "./visitor.js";

const test = inBrowser(anyTest);
anyTest.after.always(closeBrowser);

/**
 * Browsers keep away from low ports and wait for slow ones; time of the device itself is the
 * test's.
 */
async function device(t: ExecutionContext, before: Values = {}) {
  const time = new FakeClock(0);
  const kept: Values[] = [];
  const join = ({ password }: Values): Finding | undefined =>
    password === GOOD.password ? undefined : { field: "password", reason: "the Wi-Fi's password is wrong" };
  const commissioning = new Commissioning({
    clock: time,
    before,
    check: async (values, _, report) => {
      report("Joining the Wi-Fi");
      await new Promise<void>((resolve) => time.timer(5000, resolve));
      return join(values);
    },
    storeSettings: (values) => kept.push(values) > 0,
    closed: () => server.close(),
  });
  const server = createServer((stream) => {
    if (!pages.accept((event) => new Visitor(stream, event))) stream.destroy();
  });
  const host = `127.0.0.1:${await listen(server, t)}`;
  const context = { commissioning, name: "mote-240ac4000102", own: host, proof: PROOF };
  const pages = new PageServer(context, { clock, encode, decode, random: seededRandom(1) });
  commissioning.open();
  return { url: `http://${host}/`, time, kept, commissioning };
}

const overflow = (page: Page): Promise<boolean> =>
  page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");

test("on a phone: a wrong password comes back with its reason, the right one is kept, and the page closes", async (t) => {
  const { url, time, kept, commissioning } = await device(t);
  const { page, errors } = await openPage({ width: 360, script: false });
  await page.goto(url);
  await page.getByLabel("Name").fill(GOOD.ssid);
  await page.locator("#password").fill("wrong horse");
  await page.getByLabel("Address").fill(GOOD.url);
  await page.getByLabel("Provisioning key").fill(GOOD.key);
  await page.getByLabel("Provisioning secret").fill(GOOD.secret);
  await keep(page, "commission-form");
  await page.getByRole("button", { name: "Check and save" }).click();
  await page.getByText("Joining the Wi-Fi").waitFor();
  await keep(page, "commission-checking");
  await time.advance(5000);
  // It looks again by itself.
  await page.getByRole("alert").getByText("The Wi-Fi's password is wrong.").waitFor();
  await keep(page, "commission-wrong");
  t.is(await page.getByLabel("Name").inputValue(), GOOD.ssid);
  t.is(await page.locator("#password").inputValue(), "");
  t.is(await page.getByLabel("Provisioning secret").inputValue(), "");
  t.is(
    await page.getByLabel("Provisioning secret").getAttribute("placeholder"),
    "saved: leave empty to keep it",
  );
  await page.locator("#password").fill(GOOD.password);
  await page.getByRole("button", { name: "Check and save" }).click();
  await page.getByText("Joining the Wi-Fi").waitFor();
  await time.advance(5000);
  await page.getByText("Connected.").waitFor();
  await keep(page, "commission-done");
  t.like(kept[0], GOOD);
  await time.advance(10_000);
  t.is(commissioning.state, "closed");
  await t.throwsAsync(page.goto(url), { message: /ERR_CONNECTION_REFUSED/ });
  t.deepEqual(errors, []);
});

test("it fits 360 pixels in light and dark, with the longest names and every reason at once", async (t) => {
  for (const dark of [false, true]) {
    const { url, commissioning } = await device(t, {
      ssid: "W".repeat(32),
      url: `https://${"long-".repeat(30)}.example`,
    });
    commissioning.entry().give({ password: "short", token: "a/b", ca: "none of it" });
    const { page, errors } = await openPage({ width: 360, dark });
    await page.goto(url);
    t.false(await overflow(page));
    t.is(await page.locator('[aria-invalid="true"]').count(), 3);
    for (const input of await page.locator("input:not([type=hidden]), textarea, button").all()) {
      const box = await input.boundingBox();
      t.true(box !== null && box.height >= 44, "large enough for a finger");
    }
    await keep(page, `commission-all-${dark ? "dark" : "light"}`);
    t.deepEqual(errors, []);
  }
});
