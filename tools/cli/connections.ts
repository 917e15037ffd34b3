import { Option } from "commander";

/** What each choice loses was counted on a real server (docs/guides/rpc-attributes.md). */
export function connectionsOption(fallback: "2" | "3"): Option {
  const what =
    "of a device to the platform. 3: a poll for RPCs, one for shared attributes, the rest. 2: no poll for shared attributes, they come within 30s. 1: nor are one-way RPCs safe, those sent between two polls are lost (around a poll's end half of them, on a real server)";
  return new Option("--connections <count>", what).choices(["1", "2", "3"]).default(fallback);
}
