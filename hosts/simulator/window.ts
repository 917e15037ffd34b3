// The simulator's program with a window.
import { run } from "./run.js";
import { show } from "./screen.js";

run(show);
