// In the simulator's place: says what it learnt of the run before, then ends as the stub's file says for this run.
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

const directory = process.env.HOME ?? "";
const file = join(directory, "ends.json");
const [end, ...rest] = JSON.parse(readFileSync(file, "utf8")) as string[];
writeFileSync(file, JSON.stringify(rest));
const { lastRun, image } = JSON.parse(readFileSync(join(directory, "settings.json"), "utf8"));
const socket = connect(Number(process.env.XSBUG_PORT), process.env.XSBUG_HOST, () => {
  socket.write('<xsbug><login name="stub" value="stub"/>');
  say(`@event ${JSON.stringify({ event: "lastRun", lastRun, image })}`);
  if (end === undefined) return;
  say(end);
  socket.end(() => process.exit(3));
});

function say(line: string): void {
  socket.write(`<log>${line.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}\n</log>`);
}
