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
  [/\bstories\b|--(?:stories|lives)\b/i, "simulated runs, sleep-cycle runs"],
  [
    /\bpower[- ]cuts\b|\bPowerCut|\bcutTests\b|\bMOTE_CUT\b|npm run (?:-s )?(?:cuts|cycles)\b/i,
    "power losses",
  ],
  [/#weather\b|\bweather (?:is|was) (?:good|bad)|\b(?:good|bad) weather\b/i, "faults"],
  [/\bDesk\b|\bopenDesk\b|\bdesk(?=\.\w+[(])/, "what it is: page context, setup of the tour"],
];

/** Places where a text has one of them, as lines for people. */
export function goneWords(text: string): string[] {
  return text.split("\n").flatMap((line, i) =>
    GONE.flatMap(([gone, instead]) => {
      const found = gone.exec(line)?.[0];
      return found === undefined ? [] : [`line ${i + 1}: ${found} (${instead})`];
    }),
  );
}
