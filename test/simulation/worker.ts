// A process that simulates the runs its parent hands it: [first, count, fail] in, an `Outcome` out.
import { simulateMany } from "./many.js";

process.on("message", ([first, count, fail]: [number, number, number | undefined]) => {
  void simulateMany(first, count, fail ?? undefined).then((outcome) => process.send?.(outcome));
});
process.on("disconnect", () => process.exit());
