import { outboxCases } from "../cases/outbox.js";
import { powerLossTests } from "../declare.js";

powerLossTests("what the outbox accepted is there in order, or counted as dropped", outboxCases, {
  pairs: 150,
});
