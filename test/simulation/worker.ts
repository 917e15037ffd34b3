// A process that tells the stories its parent hands it: [first, count, fail] in, a `Told` out.
import { tellMany } from "./many.js";

process.on("message", ([first, count, fail]: [number, number, number | undefined]) => {
  void tellMany(first, count, fail ?? undefined).then((told) => process.send?.(told));
});
process.on("disconnect", () => process.exit());
