import { cutTests } from "./declare.js";
import { telemetryCuts } from "./telemetry.js";

cutTests("points reach the platform in order, each at one time", telemetryCuts, { pairs: 30 });
