// Words of the makers' own that gave way to the field's: none of them is to come back, in code, messages, tests or documents.

/** What nobody is to write any more, and what stands in its place. */
const GONE: readonly (readonly [gone: RegExp, instead: string])[] = [
  [/\bstand-?ins?\b/i, "local platform; stub"],
  [/\b(?:Lane|Ledger|Ways)\b/, "request channel, update journal, connection pool"],
  [/\b(?:Fake|_)Link|LinkWatcher|\b_link\b/i, "platform session"],
  [/\b(?:Fake)?Doors\b/, "SDK modules"],
  [/\bnaps?\b/i, "deep sleep"],
  [/flaw/i, "problem, reason"],
  [/\banew\b/i, "again, restarted"],
  [/\blittle-?room\b/i, "heap limit"],
  [/\bpinger\b/i, "RPC probe"],
  [/\bstor(?:y|ies)\b|--(?:stories|lives)\b/i, "simulated runs, sleep-cycle runs, event log"],
  [
    /\bpower[- ]cuts\b|\bPowerCut|\bcutTests\b|\bMOTE_CUT\b|npm run (?:-s )?(?:cuts|cycles)\b/i,
    "power losses",
  ],
  [/#weather\b|\bweather (?:is|was) (?:good|bad)|\b(?:good|bad) weather\b/i, "faults"],
  [/\bDesk\b|\bopenDesk\b|\bdesk(?=\.\w+[(])/, "what it is: page context, setup of the tour"],
  [/(?<!NTP )\beras?\b|\beraOf\b/, "boot epoch"],
  [/\bMARK_(?:KEY|VALUE)\b|\bthe mark (?:heals|alone)\b/, "freshness marker"],
  [/\bOwedMarks\b|\b(?:apply|put)Mark\b/, "status entry of the flash log"],
  [/\bgreeted\b/, "first read done"],
];

/** The same, but for members that are stored. */
const GONE_BUT_STORED: readonly (readonly [gone: RegExp, instead: string])[] = [
  [/\b(?:un)?told\b|\btell(?:s|ing)\b|[_#]tell/i, "reported, notified, logged, said, learnt"],
];
/** They have a stored member of that name, which no renaming may change. */
const STORED_MEMBERS = /agent\/lifecycle\/(?:recovery|wake|sleep-cycle)(?:\.test)?\.ts$/;

/** The same for the agent's names: plain English in other places. */
const GONE_FROM_SOURCES: readonly (readonly [gone: RegExp, instead: string])[] = [
  [/\bsettled?\b|_settle/, "idle, confirmed, finished, with defaults"],
  [/\bbrief\b/, "short"],
  [/\b(?:Channel|Log|Sectors|Staging)Owner\b|\b_owner\b/, "listener"],
  [/\breadKept\b|\bwithKept\b|\bKnownHead\b/, "stored settings, head cache"],
];
const SOURCES = /^(?:src|hosts)\//;

/** Words gone from the file at `path`. */
function goneAt(path: string): (readonly [gone: RegExp, instead: string])[] {
  const butStored = STORED_MEMBERS.test(path) ? [] : GONE_BUT_STORED;
  return [...GONE, ...butStored, ...(SOURCES.test(path) ? GONE_FROM_SOURCES : [])];
}

/** Places where a text has one of them, as lines for people. */
export function goneWords(text: string, path = ""): string[] {
  const words = goneAt(path);
  return text.split("\n").flatMap((line, i) =>
    words.flatMap(([gone, instead]) => {
      const found = gone.exec(line)?.[0];
      return found === undefined ? [] : [`line ${i + 1}: ${found} (${instead})`];
    }),
  );
}
