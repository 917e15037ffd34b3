// Writes a report to its output as `mote report` does, and the most memory that this process had to
// standard error: URL and view are its arguments.
import { Reports, Session } from "../../report/index.js";
import { Output } from "../../tools/cli/report/output.js";
import { RowWriter } from "../../tools/cli/report/row-writer.js";

const [url = "", viewConfigId = ""] = process.argv.slice(2);
const reports = new Reports({ url, session: new Session({ url, jwt: "token" }) });
const output = new Output();
const writer = new RowWriter("csv", output);
const { rows } = await reports.build({ viewConfigId, timeoutMs: 300_000 }, writer);
output.flush();
process.stderr.write(JSON.stringify({ rows, mb: process.resourceUsage().maxRSS / 1024 }));
