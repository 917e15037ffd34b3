import { telemetryCuts } from "../cases/telemetry.js";
import { cutTests } from "../declare.js";

cutTests("points reach the platform in order, each at one time", telemetryCuts, { pairs: 30 });
