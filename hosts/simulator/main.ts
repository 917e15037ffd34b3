// The simulator's program without a window.
import { run } from "./run.js";

run();
