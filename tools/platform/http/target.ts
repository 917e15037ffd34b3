// What the web server under the platform (Tomcat) takes for a path and a query.

const OTHERS = "-._~!$&'()*+,;=%:@/";
const PATH = table(OTHERS);
const QUERY = table(`${OTHERS}?`);
const ESCAPE = /%(?![0-9a-fA-F]{2})/;
/** A slash, a backslash or a NUL may not be hidden. */
const HIDDEN = /%(?:2f|5c|00)/i;

/** Whether it takes the address at all; if not it answers with a page of its own. */
export function takesTarget(path: string, query: string): boolean {
  if (!path.startsWith("/") || !consistsOf(path, PATH) || !consistsOf(query, QUERY)) return false;
  if (!path.includes("%") && !path.includes("..")) return true;
  return !ESCAPE.test(path) && !HIDDEN.test(path) && staysInside(path);
}

/** `/a/../..` leads out of the server. */
function staysInside(path: string): boolean {
  let depth = 0;
  for (const segment of path.replace(/%2e/gi, ".").split("/")) {
    if (segment === "..") depth--;
    else if (segment !== "" && segment !== ".") depth++;
    if (depth < 0) return false;
  }
  return true;
}

function consistsOf(text: string, signs: Uint8Array): boolean {
  for (let at = 0; at < text.length; at++) if (signs[text.charCodeAt(at)] !== 1) return false;
  return true;
}

/** A table of 1 for letters, digits and these. */
function table(others: string): Uint8Array {
  const signs = new Uint8Array(128);
  for (const sign of `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${others}`)
    signs[sign.charCodeAt(0)] = 1;
  return signs;
}
