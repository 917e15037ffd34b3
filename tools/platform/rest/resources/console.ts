import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { builtFile } from "../../../project.js";

const FILES = [
  ["/", "index.html", "text/html; charset=utf-8"],
  ["/console.js", "console.js", "text/javascript; charset=utf-8"],
  ["/console.css", "console.css", "text/css; charset=utf-8"],
] as const;

/** Only this origin's code runs, and no page frames it. */
const HEADERS = {
  "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
};

/** The console. scripts/build.mjs builds its files. */
export function consoleRoutes(app: FastifyInstance): void {
  for (const [url, name, type] of FILES) {
    app.get(url, (_request, reply) => reply.headers(HEADERS).type(type).send(file(name)));
  }
  // Where the platform's own pages list devices: boards lead there.
  app.get("/entities/devices", ({ query }, reply) => {
    const { textSearch } = query as { textSearch?: unknown };
    const search = typeof textSearch === "string" ? `?${new URLSearchParams({ search: textSearch })}` : "";
    return reply.redirect(`/#/${search}`, 302);
  });
}

function file(name: string): Buffer {
  return readFileSync(builtFile(`tools/platform/console/${name}`));
}
