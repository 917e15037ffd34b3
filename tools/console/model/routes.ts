// The console's pages by the part of the address behind `#`, and what each is called.

export type Route =
  | { page: "devices"; query: URLSearchParams }
  | { page: "updates"; query: URLSearchParams }
  | { page: "device" | "update"; id: string }
  | { page: "unknown" };

const DEVICE = /^\/device\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(\/update)?$/i;

/** `#/device/7c5e…/update`, `#/?search=pump` */
export function routeOf(hash: string): Route {
  const [path = "", text = ""] = hash.replace(/^#/, "").split("?", 2);
  const query = new URLSearchParams(text);
  if (path === "" || path === "/") return { page: "devices", query };
  if (path === "/updates") return { page: "updates", query };
  const [, id, update] = DEVICE.exec(path) ?? [];
  if (id === undefined) return { page: "unknown" };
  return { page: update === undefined ? "device" : "update", id: id.toLowerCase() };
}

export const deviceHref = (id: string): string => `#/device/${id}`;
export const updateHref = (id: string): string => `#/device/${id}/update`;

/** The window's title: what is looked at first, as a tab shows only its beginning. */
export function titled(heading: string): string {
  return heading === "" ? "Mote console" : `${heading} · Mote console`;
}
