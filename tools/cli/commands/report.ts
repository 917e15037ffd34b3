import { type Command, InvalidArgumentError, Option } from "commander";
import { caOption } from "../operator/operator.js";
import type { ReportFlags } from "../report/report.js";
import { FORMATS } from "../report/row-writer.js";
import { viewId } from "../report/view-id.js";
import { parseLast, parseTime } from "../times.js";
import { durationOption, UsageError } from "../usage.js";

const APIS: Readonly<Record<string, string>> = {
  analytics: "/apiAnalytics/publicApi",
  trendz: "/apiTrendz/publicApi",
};

const HELP = `
Log in with --jwt, with --username (the password comes from MOTE_PLATFORM_PASSWORD or a prompt), or with mote login.

Times are dates (2026-01-31, 2026-01-31T12:00), milliseconds since 1970, -7d, -12h, -30m, today, yesterday or now. The default is the view's own range. A
day given to --to is included. Dates in rows are milliseconds since 1970. CSV output prefixes formulas with '. An incomplete report ends with an exit code other than 0.

Exit codes:
  1  no connection or answer, an incomplete report, or status 5xx
  2  wrong usage
  3  refused: wrong login, or status 400, 403, 404 or 415
  6  no rows
  7  status 429 or 503 until the deadline

Examples:
  mote report --url https://analytics.example.com --view 3f2504e0-4f89-41d3-9a0c-0305e82c3301
  mote report --view LINK --from -7d --filter Building=North --filter Building=South > week.csv`;

export function reportCommand(program: Command): void {
  program
    .command("report")
    .description("print the report of a saved table view")
    .addOption(
      new Option("--view <view>", "UUID or link of the view").argParser(viewId).makeOptionMandatory(),
    )
    .addOption(
      new Option("--url <url>", "URL of the analytics server (default: the saved login's)").env(
        "MOTE_PLATFORM_URL",
      ),
    )
    .option("--auth-url <url>", "login server, if it is another one")
    .option("--from <time>", "start of the range", (text) => since1970(parseTime(text)))
    .option("--to <time>", "end of the range", (text) => since1970(parseLast(text)))
    .option("--filter <name=value>", "value for a filter of the view (repeatable)", filter)
    .addOption(new Option("--format <format>", "output format").choices(FORMATS).default("csv"))
    .addOption(new Option("--username <name>", "user to log in as").env("MOTE_PLATFORM_USERNAME"))
    .addOption(new Option("--jwt <token>", "token to use instead of a login").env("MOTE_PLATFORM_JWT"))
    .addOption(
      new Option("--api <path>", "API path below the URL; older servers: trendz")
        .default(APIS.analytics, "analytics")
        .argParser(apiPath),
    )
    .addOption(caOption("trust only these CA certificates (PEM); default: those of the login"))
    .addOption(durationOption("--deadline <duration>", "maximum total time", "10m"))
    .addHelpText("after", HELP)
    .action(async (flags: ReportFlags, command: Command) => {
      // Typed options override the environment.
      const typed = (name: string): boolean => command.getOptionValueSource(name) === "cli";
      if (typed("jwt") && typed("username")) throw new UsageError("use either --jwt or --username");
      if (typed("username")) delete flags.jwt;
      if (flags.from !== undefined && flags.to !== undefined && flags.from > flags.to)
        throw new UsageError("--from must not be later than --to");
      // Load the client only for this command.
      const { writeReport } = await import("../report/report.js");
      await writeReport(flags);
    });
}

/** Adds `NAME=VALUE` to the previous values. For commander. */
function filter(text: string, before: Record<string, string[]> = {}): Record<string, string[]> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Expected NAME=VALUE.");
  const name = text.slice(0, at);
  if (name === "__proto__") throw new InvalidArgumentError("Invalid filter name.");
  return {
    ...before,
    [name]: [...(Object.hasOwn(before, name) ? (before[name] ?? []) : []), text.slice(at + 1)],
  };
}

/** For commander. */
function since1970(ts: number): number {
  if (ts < 0) throw new InvalidArgumentError("Must not be before 1970.");
  return ts;
}

function apiPath(text: string): string {
  const known = Object.hasOwn(APIS, text) ? APIS[text] : undefined;
  if (known === undefined && !text.startsWith("/"))
    throw new InvalidArgumentError("Expected analytics, trendz or a path that starts with /.");
  return known ?? text;
}
