import { OperatorError } from "./error.js";
import type { Page } from "./shapes.js";

/** Of 100 entries: a million devices. */
const MOST = 10_000;

/**
 * The pages of a list. Throws OperatorError if the list has no end: the platform sends a page
 * twice, goes on after as many entries as it counts, or after 10,000 pages.
 */
export async function* eachPage<T>(read: (page: number) => Promise<Page<T>>): AsyncGenerator<Page<T>> {
  let before = "";
  let count = 0;
  for (let number = 0; ; number++) {
    const page = await read(number);
    yield page;
    if (!page.hasNext) return;
    const text = JSON.stringify(page.data);
    count += page.data.length;
    if (text === before || count >= page.totalElements || number + 1 >= MOST)
      throw new OperatorError(200, `the list of the platform does not end (page ${number + 1})`);
    before = text;
  }
}

/** Reads all pages of a list. */
export async function allPages<T>(read: (page: number) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  for await (const { data } of eachPage(read)) found.push(...data);
  return found;
}
