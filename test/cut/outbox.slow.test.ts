import { cutTests } from "./declare.js";
import { outboxCuts } from "./outbox.js";

cutTests("what the outbox accepted is there in order, or counted as dropped", outboxCuts, { pairs: 150 });
