// Finds a secret wherever it is sent or shown: as it is, escaped for an address, in base64 wherever
// it may begin, in hexadecimal digits.

/**
 * Bytes of base64 that depend on what stands before or behind a text, at each of the three places
 * where it may begin.
 */
const EDGES = [0, 2, 3] as const;

/** Every form of `secret` that must not be found. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const all = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const hex = bytes.toString("hex");
  const forms = [secret, encodeURIComponent(secret), secret.replaceAll(" ", "+"), all, all.toUpperCase()];
  forms.push(hex, hex.toUpperCase(), JSON.stringify(secret).slice(1, -1), [...secret].reverse().join(""));
  for (let place = 0; place < 3; place++) {
    const text = Buffer.concat([Buffer.alloc(place), bytes]).toString("base64");
    const whole = text.slice(EDGES[place], Math.floor(((place + bytes.length) * 8) / 6));
    forms.push(whole, whole.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return [...new Set(forms)];
}

/**
 * Which of `secrets` are in `text`: the name of each that is in it, in whatever form; empty if none
 * is.
 */
export function secretsIn(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.keys(secrets).filter((name) => formsOf(secrets[name]!).some((form) => text.includes(form)));
}

/**
 * A request without what must be in it: the access token in its address, key and secret in the body
 * of a provisioning, the token there that is proposed. All else of it is judged like any other
 * text.
 */
export function withoutLawful(request: string): string {
  return request
    .replace(/^([A-Z]+ \/api\/v1\/)[^/ ]+(?=\/)/, "$1")
    .replace(/^(POST \/api\/v1\/provision [\s\S]*\r\n\r\n)\{[\s\S]*$/, "$1");
}
