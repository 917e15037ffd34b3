export { createHost, type SimulatorHost, type SimulatorOptions } from "./host.js";
