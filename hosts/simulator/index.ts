export { type Image, startImage } from "./boot-loader.js";
export { createHost, type SimulatorHost, type SimulatorOptions } from "./host.js";
