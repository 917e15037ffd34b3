// Writes a report to a file as `mote report` does, and prints what it took in memory meanwhile: URL, view and file are its arguments.
import { runInNewContext } from "node:vm";
import { Reports, Session } from "../../src/report/index.js";
import { Delivery } from "../../tools/cli/report/delivery.js";
import { formatOf } from "../../tools/cli/report/formats.js";
import { reportHost } from "../../tools/cli/report/host.js";
import { openOutput } from "../../tools/cli/report/output.js";

process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;
const [url = "", viewConfigId = "", path = ""] = process.argv.slice(2);
const host = reportHost(undefined);
const session = new Session(host, { url, username: "tenant@thingsboard.org", password: "tenant" });
const reports = new Reports(host, { url, session });
const output = openOutput(path);
const delivery = new Delivery(formatOf("csv", undefined), output, [], undefined);

function used(): number {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let few = 0;
let most = 0;
await reports.build(
  { viewConfigId, timeoutMs: 120_000 },
  {
    labels: (labels) => delivery.labels(labels),
    row(row) {
      const more = delivery.row(row);
      if (delivery.rows === 1000) few = used();
      else if (delivery.rows % 10_000 === 0) most = Math.max(most, used());
      return more;
    },
  },
);
delivery.finish();
output.commit();
reports.close();
session.close();
process.stdout.write(JSON.stringify({ few, most, rows: delivery.rows }));
