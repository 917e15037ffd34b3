// "Flash a board": a page with ESP Web Tools that writes what `mote esp32 --web` left in a
// directory, all of it served from here.
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { builtFile } from "../../../project.js";
import { RestError } from "../error.js";
import { loopbackOnly } from "../loopback-only.js";
import { pageHeaders } from "./console.js";

const NAME = /^[\w][\w.-]*$/;
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".bin": "application/octet-stream",
};

/** The dialogs set styles of their own. */
const HEADERS = pageHeaders(" 'unsafe-inline'");

type Names = Readonly<Record<string, string>>;

/** What stands where. Each throws where there is no such file. */
const FILES: Readonly<Record<string, (directory: string, names: Names) => Buffer>> = {
  "/flash": () => page("flash.html"),
  "/flash.js": () => page("flash.js"),
  "/flash/tools/:name": (_, { name = "" }) => page(`esp-web-tools/${name}`),
  "/flash/firmware/manifest.json": (directory) => readFileSync(join(directory, "manifest.json")),
  "/flash/firmware/:chip/:name": (directory, { chip = "", name = "" }) =>
    readFileSync(join(directory, chip, name)),
};

/** For a platform without a directory to flash from: no file stands under it. */
const NOWHERE = "/dev/null";

export const FLASH_PATHS = Object.keys(FILES);

/** Serves the folder of `mote esp32 --web` to this machine only: images hold secrets. */
export function flashRoutes(app: FastifyInstance, directory = NOWHERE): void {
  for (const [path, read] of Object.entries(FILES))
    app.get(path, (request, reply) => {
      loopbackOnly(request);
      const names = request.params as Names;
      const bytes = fileOf(() => read(directory, names), names);
      const name = names.name ?? (path === "/flash" ? "flash.html" : path);
      return reply
        .headers(HEADERS)
        .type(TYPES[extname(name)] ?? "application/octet-stream")
        .send(bytes);
    });
}

const page = (name: string): Buffer => readFileSync(builtFile(`tools/platform/console/${name}`));

function fileOf(read: () => Buffer, names: Names): Buffer {
  try {
    if (Object.values(names).every((name) => NAME.test(name))) return read();
  } catch {
    // As below.
  }
  throw new RestError(404, "File not found");
}
