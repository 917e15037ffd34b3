import { telemetryCases } from "../cases/telemetry.js";
import { powerLossTests } from "../declare.js";

powerLossTests("points reach the platform in order, each at one time", telemetryCases, { pairs: 30 });
