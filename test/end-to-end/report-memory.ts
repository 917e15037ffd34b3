// Writes a report to a file as `mote report` does, and prints the most memory that this process had: URL, view and file are its arguments.
import { Reports, Session } from "../../report/index.js";
import { openOutput } from "../../tools/cli/report/output.js";
import { RowWriter } from "../../tools/cli/report/row-writer.js";

const [url = "", viewConfigId = "", path = ""] = process.argv.slice(2);
const reports = new Reports({ url, session: new Session({ url, jwt: "token" }) });
const output = openOutput(path);
const writer = new RowWriter("csv", output, []);
const { rows } = await reports.build({ viewConfigId, timeoutMs: 300_000 }, writer);
writer.finish();
output.commit();
process.stdout.write(JSON.stringify({ rows, mb: process.resourceUsage().maxRSS / 1024 }));
