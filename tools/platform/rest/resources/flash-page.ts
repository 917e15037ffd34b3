// "Flash a board": a page with ESP Web Tools that writes what `mote esp32 --web` left in a directory, all of it served from here.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { RestError } from "../error.js";
import { forThisMachine } from "../this-machine.js";

/** Of ESP Web Tools, as it is installed: no page of ours loads a script from elsewhere. */
const TOOLS = join(
  dirname(createRequire(import.meta.url).resolve("esp-web-tools/package.json")),
  "dist",
  "web",
);
const NAME = /^[\w][\w.-]*$/;
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".bin": "application/octet-stream",
};

/** The dialogs set styles of their own. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};

export const FLASH_PATHS = [
  ...["/flash", "/flash.js"],
  ...["/flash/tools/:name", "/flash/firmware/manifest.json", "/flash/firmware/:chip/:name"],
];

/** `directory`: as `mote esp32 --web` writes it. For this machine alone: an image holds what was built in, and Web Serial wants a page of this machine. */
export function flashRoutes(app: FastifyInstance, directory: string | undefined): void {
  const page = (name: string): Buffer => readFileSync(new URL(`../../console/${name}`, import.meta.url));
  const serve = (path: string, from: (params: Record<string, string>) => Buffer | undefined): void => {
    app.get(path, (request, reply) => {
      forThisMachine(request);
      const params = request.params as Record<string, string>;
      const bytes = Object.values(params).every((name) => NAME.test(name)) ? from(params) : undefined;
      if (bytes === undefined) throw new RestError(404, "There is no such file");
      const name = params.name ?? (path === "/flash" ? "flash.html" : path);
      return reply
        .headers(HEADERS)
        .type(TYPES[extname(name)] ?? "application/octet-stream")
        .send(bytes);
    });
  };
  serve("/flash", () => page("flash.html"));
  serve("/flash.js", () => page("flash.js"));
  serve("/flash/tools/:name", ({ name = "" }) => fileOf(TOOLS, name));
  serve("/flash/firmware/manifest.json", () => fileOf(directory, "manifest.json"));
  serve("/flash/firmware/:chip/:name", ({ chip = "", name = "" }) => fileOf(directory, chip, name));
}

function fileOf(directory: string | undefined, ...names: string[]): Buffer | undefined {
  try {
    return directory === undefined ? undefined : readFileSync(join(directory, ...names));
  } catch {
    return undefined;
  }
}
