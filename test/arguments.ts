// Arguments of a test run: `npx ava test/FILE.test.ts -- --NAME VALUE`.

/** Whether `--NAME` was given. */
export const given = (name: string): boolean => process.argv.includes(`--${name}`);

/** The value after `--NAME`. */
export function argument(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}
