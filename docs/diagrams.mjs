// node docs/diagrams.mjs: draws the Mermaid diagrams of the pages as SVG, for light and dark pages.
// Run it after a change of a diagram. It needs a Chromium, which MOTE_CHROMIUM may name.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const drawn = join(folder, "public", "diagrams");
const THEMES = { light: "default", dark: "dark" };

/** The name of a diagram's pictures: a hash of its source, so that no picture is out of date. */
const nameOf = (source) => createHash("sha256").update(source.trim()).digest("hex").slice(0, 12);

/** The pictures of a diagram, with their size, so that the page does not move when they come. */
export function diagramHtml(source, alt) {
  const name = nameOf(source);
  const file = join(drawn, `${name}-light.svg`);
  if (!existsSync(file)) throw new Error(`a diagram (${alt}) is not drawn: run node docs/diagrams.mjs`);
  const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(readFileSync(file, "utf8"));
  return Object.keys(THEMES)
    .map((theme) => {
      const size = `width="${width}" height="${height}"`;
      return `<img class="diagram ${theme}-only" src="/diagrams/${name}-${theme}.svg" alt="${alt}" ${size} loading="lazy">`;
    })
    .join("");
}

async function draw() {
  const { chromium } = await import("playwright-core");
  const places = [process.env.MOTE_CHROMIUM ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"];
  const executablePath = places.find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error("there is no Chromium: set MOTE_CHROMIUM");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.addScriptTag({ path: join(folder, "node_modules", "mermaid", "dist", "mermaid.min.js") });
  rmSync(drawn, { recursive: true, force: true });
  mkdirSync(drawn);
  const pages = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const file of pages.filter((name) => name.endsWith(".md") && !name.includes("node_modules"))) {
    for (const [, source] of readFileSync(join(folder, file), "utf8").matchAll(
      /```mermaid\n([\s\S]*?)```/g,
    )) {
      for (const [theme, mermaidTheme] of Object.entries(THEMES)) {
        const config = {
          theme: mermaidTheme,
          fontFamily: "Arial, Helvetica, sans-serif",
          htmlLabels: false,
          flowchart: { htmlLabels: false, nodeSpacing: 30, rankSpacing: 34 },
        };
        const svg = await page.evaluate(
          async ([text, options]) => {
            mermaid.initialize({ ...options, startOnLoad: false });
            return (await mermaid.render("diagram", text)).svg;
          },
          [source, config],
        );
        const [, width, height] = /viewBox="\S+ \S+ (\S+) (\S+)"/.exec(svg).map(Math.ceil);
        const sized = svg
          .replace(/ style="[^"]*max-width[^"]*"/, "")
          .replace(/ width="100%"/, ` width="${width}" height="${height}"`);
        writeFileSync(join(drawn, `${nameOf(source)}-${theme}.svg`), `${sized}\n`);
        console.log(`${file}: ${nameOf(source)}-${theme}.svg, ${width} x ${height}`);
      }
    }
  }
  await browser.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await draw();
