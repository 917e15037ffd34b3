// node dist/test/faults/replay.js SEED [COUNT]: tells one story in full, or COUNT of them and their failures.
import { tell } from "./stories.js";

const [first = 1, count = 1] = process.argv.slice(2).map(Number);
let failed = 0;
const rejections: string[] = [];
process.on("unhandledRejection", (error) => rejections.push(String(error)));
for (let seed = first; seed < first + count; seed++) {
  const story = await tell(seed);
  for (const rejection of rejections.splice(0)) story.fail(`unhandled rejection: ${rejection}`);
  if (count === 1) console.log(story.trace.join("\n"));
  if (story.failures.length > 0) {
    failed++;
    console.log(`seed ${seed}: ${story.failures.slice(0, 4).join("; ")}`);
  }
}
console.log(`${failed} of ${count} failed`);
