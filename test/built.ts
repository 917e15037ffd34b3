// Test files that read the build's outputs make them first: nothing is built if no source changed.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PROJECT } from "../tools/project.js";

interface Build {
  buildTools(): Promise<void>;
  buildBoards(names?: readonly string[]): Promise<void>;
}

const script = (): Promise<Build> => import(pathToFileURL(join(PROJECT, "scripts/build.mjs")).href);

/** The packages' JavaScript, the console and the tour's firmware images, in `dist`. */
export const buildTools = async (): Promise<void> => (await script()).buildTools();

/** The modules that boards preload, in `dist/xs`. `names`: only those. */
export const buildBoards = async (...names: string[]): Promise<void> =>
  (await script()).buildBoards(names.length > 0 ? names : undefined);
