import { Option } from "commander";

/** The losses of each choice were counted on a real server. */
export function connectionsOption(fallback: "2" | "3"): Option {
  const what =
    "connections to the platform; 2: shared attributes arrive within 30s; 1: one-way RPCs may be lost, too";
  return new Option("--connections <count>", what).choices(["1", "2", "3"]).default(fallback);
}
