import { build } from "esbuild";
import { root } from "../../architecture/tree.js";

/** A program of the tests as one module; what the SDK or Mote brings stays an import. */
export async function bundleForXs(entry: string, outfile: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    packages: "external",
    platform: "neutral",
    target: "es2022",
    logLevel: "silent",
  });
}
