/** Parameters of a query string by name, in order. What can't be decoded is left out. */
export function parseQuery(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = decode(at < 0 ? "" : pair.slice(at + 1));
    if (name === undefined || value === undefined) continue;
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return values;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

const INTEGER = /^([+-]?)(?:(?:0x|0X|#)([0-9a-fA-F]+)|([0-9]+))$/;

/** A whole number as the platform reads parameters: `5`, `+5`, `0x1F`, with blanks. Undefined if it's none or has more than `bits` bits. */
export function parseInteger(text: string, bits: 32 | 64): number | undefined {
  const match = INTEGER.exec(text.replace(/\s+/g, ""));
  if (!match) return undefined;
  const [, sign, hex, decimal] = match;
  const digits = (hex ?? decimal ?? "").replace(/^0+(?=.)/, "");
  if (digits.length > 20) return undefined;
  const size = BigInt(hex === undefined ? digits : `0x${digits}`);
  const value = sign === "-" ? -size : size;
  return BigInt.asIntN(bits, value) === value ? Number(value) : undefined;
}
