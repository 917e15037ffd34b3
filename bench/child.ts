// One row in a process of its own: no garbage and no compiled code of another's. `child.js ID TIMES quick|whole`; the lines go to the parent.
import { rows } from "./rows.js";

const [id, times, length] = process.argv.slice(2);
const row = (await rows()).find((one) => one.id === Number(id));
if (!row) throw new Error(`there is no row ${id}`);
const lines = await row.run({ times: Number(times), quick: length === "quick" });
process.send?.(lines, () => process.exit());
