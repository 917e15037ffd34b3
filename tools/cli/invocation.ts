import { basename, sep } from "node:path";

/** The command to show in examples: `mote`, `mote-cli`, or `npx mote-cli` in a project or clone. */
export function calledAs(script = process.argv[1] ?? ""): string {
  const name = basename(script).replace(/\.(?:cmd|ps1)$/, "");
  if (name !== "mote" && name !== "mote-cli") return "npx mote-cli";
  return script.includes(`${sep}node_modules${sep}.bin${sep}`) ? `npx ${name}` : name;
}
