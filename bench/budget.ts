// Which exact figures are worse than their budget in results.json.

/** How much a figure may grow before the test fails. */
export const SLACK = 0.05;

export interface Compared {
  /** Beyond the budget, or not in it at all. */
  readonly worse: readonly string[];
  /** As far below it: worth a new budget. */
  readonly better: readonly string[];
}

/** Each figure that moved by more than `slack`, reported with both numbers. A figure that is no longer measured counts as worse: a budget must not fall silent. */
export function compare(
  figures: Readonly<Record<string, number>>,
  kept: Readonly<Record<string, number>> = {},
  slack = SLACK,
): Compared {
  const worse: string[] = [];
  const better: string[] = [];
  for (const name of new Set([...Object.keys(kept), ...Object.keys(figures)])) {
    const figure = figures[name];
    const budget = kept[name];
    const what = `${name}: ${figure ?? "not measured"}, budget ${budget ?? "none"}`;
    // Zero allows zero; a figure that is no number is worse than any.
    if (figure === undefined || budget === undefined || !(figure <= budget * (1 + slack))) worse.push(what);
    else if (figure < budget * (1 - slack)) better.push(what);
  }
  return { worse, better };
}
