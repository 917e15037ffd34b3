import { basename, sep } from "node:path";

/** How this program was called, for lines to copy: `mote`, `mote-cli`, or `npx mote-cli` in a project or a clone. */
export function calledAs(script = process.argv[1] ?? ""): string {
  const name = basename(script).replace(/\.(?:cmd|ps1)$/, "");
  if (name !== "mote" && name !== "mote-cli") return "npx mote-cli";
  return script.includes(`${sep}node_modules${sep}.bin${sep}`) ? `npx ${name}` : name;
}
