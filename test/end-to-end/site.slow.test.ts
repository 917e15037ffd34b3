// The documentation site as `npm run docs` builds it, in a real browser: pages, links with their anchors, and search.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { extname, join } from "node:path";
import anyTest, { type Implementation } from "ava";
import { listen } from "../fakes/listen.js";
import { closeBrowser, executablePath, keep, openPage } from "../tools/console/browser.js";

const DIST = "docs/.vitepress/dist";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

const lacks = !existsSync("docs/node_modules/vitepress")
  ? "npm run setup:docs was not run"
  : executablePath === undefined
    ? "no Chromium on this machine; MOTE_CHROMIUM names one"
    : undefined;
const test = (title: string, run: Implementation<[]>): void => {
  if (lacks === undefined) anyTest.serial(title, run);
  else anyTest.skip(`${title} (${lacks})`, run);
};

let server: Server;
let url = "";

anyTest.before(async (t) => {
  if (lacks !== undefined) return;
  t.timeout(540_000);
  execFileSync("npm", ["run", "-s", "docs"], { stdio: "pipe" });
  server = createServer((request, response) => {
    const path = join(DIST, decodeURIComponent(new URL(request.url ?? "/", "http://site").pathname));
    const file = path.endsWith("/") ? join(path, "index.html") : path;
    if (!existsSync(file)) return response.writeHead(404).end();
    response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
    response.end(readFileSync(file));
  });
  url = `http://127.0.0.1:${await listen(server)}/`;
});
anyTest.after.always(async () => {
  await closeBrowser();
  server?.close();
});

const pages = (): string[] =>
  readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));

test("every link of the built site leads to a page, and its anchor is there", (t) => {
  const html = new Map(pages().map((name) => [name, readFileSync(join(DIST, name), "utf8")]));
  t.true(html.size > 30, `${html.size} pages`);
  for (const [name, text] of html) {
    for (const [, link = ""] of text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      if (/^(?:https?:|mailto:)/.test(link)) continue;
      const target = new URL(link.replaceAll("&amp;", "&"), `http://site/${name}`);
      const path = decodeURIComponent(target.pathname).slice(1);
      const found = html.get(path === "" || path.endsWith("/") ? `${path}index.html` : path);
      if (found === undefined) {
        t.true(existsSync(join(DIST, path)), `${name}: ${link}`);
        continue;
      }
      const anchor = decodeURIComponent(target.hash.slice(1));
      if (anchor !== "" && anchor !== "VPContent")
        t.true(found.includes(`id="${anchor}"`), `${name}: ${link} has no such heading`);
    }
  }
});

test("search finds a page by a word of its text and opens it", async (t) => {
  const { page, errors } = await openPage({ width: 1440 });
  await page.goto(url);
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").fill("quick power cycles");
  const results = page.getByRole("listbox").getByRole("option");
  await results.first().waitFor();
  await results.filter({ hasText: "Debug a device" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Debug a device" }).waitFor();
  t.deepEqual(errors, []);
});

const PAGES = ["index", "start/esp32", "guides/debug", "understand/architecture", "reference/cli"];

for (const [width, dark] of [
  [1440, false],
  [390, true],
] as const)
  test(`pages are accessible and fit ${width} pixels${dark ? ", dark" : ""}`, async (t) => {
    const axe = readFileSync("docs/node_modules/axe-core/axe.min.js", "utf8");
    for (const name of PAGES) {
      const { page, errors } = await openPage({ width, dark });
      await page.goto(`${url}${name}.html`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      if (name.endsWith("architecture")) {
        const diagrams = page.locator("img.diagram:visible");
        t.is(await diagrams.count(), 2);
        for (const diagram of await diagrams.all()) {
          const before = await diagram.boundingBox();
          await diagram.scrollIntoViewIfNeeded();
          await diagram.evaluate("image => image.decode()");
          t.true((before?.height ?? 0) > 100);
          t.is((await diagram.boundingBox())?.height, before?.height);
        }
      }
      const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
      t.true(wide <= width, `${name} is ${wide} pixels wide`);
      await page.evaluate(axe);
      const found = await page.evaluate<string[]>(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].target))",
      );
      t.deepEqual([found, errors], [[], []], name);
      await keep(page, `site-${name.replace("/", "-")}-${width}`);
      await page.context().close();
    }
  });
