import { outboxCases } from "./cases/outbox.js";
import { telemetryCases } from "./cases/telemetry.js";
import { powerLossTests } from "./declare.js";
import { bitFlipTests } from "./declare-flips.js";

powerLossTests("what the outbox accepted is there in order, or counted as dropped", outboxCases, 150);

powerLossTests("points reach the platform in order, each at one time", telemetryCases, 30);

// Every bit of all that a queue left.

bitFlipTests();
