/** The URL without a slash at its end. Adds to `wrong` if a path cannot be appended to it. */
export function baseUrl(text: unknown, wrong: string[]): string {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    wrong.push("url must be a string that begins with http:// or https://");
  else if (url.username !== "" || url.password !== "" || /[?#]/.test(url.href))
    wrong.push("url must have no user name, password, query or fragment");
  return url ? `${url.origin}${url.pathname.replace(/\/+$/, "")}` : "";
}
