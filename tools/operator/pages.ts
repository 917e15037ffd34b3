import type { Page } from "./shapes.js";

/** Reads all pages of a list. */
export async function allPages<T>(read: (page: number) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  for (let page = 0; ; page++) {
    const { data, hasNext } = await read(page);
    found.push(...data);
    if (!hasNext) return found;
  }
}
