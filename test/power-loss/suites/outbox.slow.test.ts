import { outboxCuts } from "../cases/outbox.js";
import { cutTests } from "../declare.js";

cutTests("what the outbox accepted is there in order, or counted as dropped", outboxCuts, { pairs: 150 });
