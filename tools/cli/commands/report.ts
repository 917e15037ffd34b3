import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { codeOf } from "../../../hosts/node/files.js";
import type { ReportFlags } from "../report/flags.js";
import { FORMATS } from "../report/formats.js";
import { viewId } from "../report/view-id.js";
import { parseLast, parseTime } from "../times.js";
import { certificates, durationOption, UsageError } from "../usage.js";

const APIS: Readonly<Record<string, string>> = {
  analytics: "/apiAnalytics/publicApi",
  trendz: "/apiTrendz/publicApi",
};

const HELP = `
The login is --jwt, or --username with the password in MOTE_PLATFORM_PASSWORD or asked for on the terminal, or the one of mote login.

Times are dates (2026-01-31, 2026-01-31T12:00), milliseconds since 1970, -7d, -12h, -30m, today, yesterday or now; without them the view's own
range holds. --to a day includes all of it. Dates come as milliseconds and stay so, except in columns that --date names: those become ISO 8601 in UTC.

A file appears when it is whole. In CSV a text that a spreadsheet would run as a formula gets a ' in front.

Exit codes: 1 no connection, no end before the deadline, a report that broke off or can't be read, 500 and more; 2 wrong usage; 3 refused (wrong login, 400, 403, 404, 415);
6 no rows; 7 too many requests (429) or not available (503) until the deadline.

Examples:
  mote report --url https://analytics.example.com --view 3f2504e0-4f89-41d3-9a0c-0305e82c3301
  mote report --view LINK --from -7d --filter Building=North --filter Building=South --date Day -o week.csv`;

export function reportCommand(program: Command): void {
  program
    .command("report")
    .description("write the report of a saved table view to the terminal or a file")
    .addOption(
      new Option("--view <view>", "the view's UUID or its link").argParser(viewId).makeOptionMandatory(),
    )
    .addOption(
      new Option("--url <url>", "of the analytics server (default: that of the login)").env(
        "MOTE_PLATFORM_URL",
      ),
    )
    .option("--auth-url <url>", "where users log in, if that is elsewhere")
    .option("--from <time>", "the first to report", (text) => since1970(parseTime(text)))
    .option("--to <time>", "the last to report", (text) => since1970(parseLast(text)))
    .option("--filter <name=value>", "what passes a filter of the view; again for more", filter)
    .option("--date <label>", "a column that holds dates; again for more", (label, before: string[] = []) => [
      ...before,
      label,
    ])
    .addOption(
      new Option(
        "--format <format>",
        "default: by the file's ending; table on a terminal, csv elsewhere",
      ).choices(FORMATS),
    )
    .addOption(new Option("--json", "the same as --format json").implies({ format: "json" }))
    .option("-o, --output <file>", "write to a file")
    .addOption(new Option("--username <name>", "log in as").env("MOTE_PLATFORM_USERNAME"))
    .addOption(
      new Option(
        "--password <password>",
        "better given by MOTE_PLATFORM_PASSWORD: arguments can be seen by others",
      ),
    )
    .addOption(new Option("--jwt <token>", "in place of a login").env("MOTE_PLATFORM_JWT"))
    .addOption(
      new Option("--api <path>", "of the API below the URL; older servers: trendz")
        .default(APIS.analytics, "analytics")
        .argParser(apiPath),
    )
    .addOption(
      new Option("--jwt-in <place>", "where the token goes")
        .choices(["header", "bearer", "query"])
        .default("header"),
    )
    .addOption(durationOption("--deadline <duration>", "for all of it", "10m"))
    .option("--ca <file>", "certificates (PEM) to trust in place of the usual ones")
    .addHelpText("after", HELP)
    .action(async (flags: ReportFlags & { password?: string }, command: Command) => {
      // What is typed counts more than what the environment holds.
      const typed = (name: string): boolean => command.getOptionValueSource(name) === "cli";
      if (typed("jwt") && typed("username")) throw new UsageError("it is --jwt or --username, not both");
      if (typed("username")) delete flags.jwt;
      if (flags.from !== undefined && flags.to !== undefined && flags.from > flags.to)
        throw new UsageError("--from is later than --to");
      // Only this command pays for loading the client.
      const { writeReport } = await import("../report/report.js");
      await writeReport(flags, flags.ca === undefined ? undefined : certificates("--ca", load(flags.ca)));
    });
}

/** `NAME=VALUE`, added to what was given before. For commander. */
function filter(text: string, before: Record<string, string[]> = {}): Record<string, string[]> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It is NAME=VALUE.");
  const name = text.slice(0, at);
  if (name === "__proto__") throw new InvalidArgumentError("No filter has that name.");
  return {
    ...before,
    [name]: [...(Object.hasOwn(before, name) ? (before[name] ?? []) : []), text.slice(at + 1)],
  };
}

/** For commander. */
function since1970(ts: number): number {
  if (ts < 0) throw new InvalidArgumentError("Reports begin in 1970.");
  return ts;
}

function apiPath(text: string): string {
  const known = Object.hasOwn(APIS, text) ? APIS[text] : undefined;
  if (known === undefined && !text.startsWith("/"))
    throw new InvalidArgumentError("It is analytics, trendz or a path that begins with /.");
  return known ?? text;
}

function load(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`--ca ${path} can't be read (${codeOf(error)})`);
  }
}
