import type { ImplementationFn, TestFn } from "ava";

/** `test`, or, for the `reason`, its skipped form with the reason in the title. */
export function unless<C>(
  test: TestFn<C>,
  reason: string | undefined,
): (title: string, run: ImplementationFn<[], C>) => void {
  return (title, run) => {
    if (reason === undefined) test(title, run);
    else test.skip(`${title} (${reason})`, run);
  };
}
