// The setup page: plain HTML without scripts and external resources, for screens from 360 px.
import { upperCase } from "../../src/wire/text/characters.js";
import type { View } from "./commissioning.js";
import type { Field } from "./values.js";

/** respond.ts allows this style alone, by STYLE_HASH. */
export const STYLE = `:root{color-scheme:light dark;--ink:rgb(29 35 43);--soft:rgb(91 102 115);--line:rgb(185 194 204);--back:rgb(255 255 255);--deed:rgb(11 92 173);--bad:rgb(179 38 30);--badback:rgb(253 236 234)}
@media(prefers-color-scheme:dark){:root{--ink:rgb(232 236 241);--soft:rgb(166 177 189);--line:rgb(75 86 99);--back:rgb(20 24 29);--deed:rgb(109 177 245);--bad:rgb(255 180 171);--badback:rgb(58 21 18)}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:30rem;padding:1.25rem 1rem 3rem;background:var(--back);color:var(--ink);font:1rem/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:0 0 .25rem}h2{font-size:1.05rem;margin:1.75rem 0 0}p{margin:.5rem 0}
label{display:block;margin-top:.9rem;font-weight:600}
small{display:block;color:var(--soft);font-weight:400}
input,textarea,button{width:100%;min-height:2.9rem;margin-top:.3rem;padding:.6rem .7rem;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:.4rem}
textarea{min-height:5rem;font:.8rem/1.3 monospace}
button{margin-top:1.75rem;background:var(--deed);border-color:var(--deed);color:var(--back);font-weight:600}
:focus-visible{outline:3px solid var(--deed);outline-offset:2px}
[role=alert]{margin:1rem 0 0;padding:.7rem .8rem;border-left:4px solid var(--bad);background:var(--badback);color:var(--bad)}
[aria-invalid]{border-color:var(--bad);border-width:2px}
summary{margin-top:1.2rem;padding:.4rem 0;color:var(--deed)}`;
/** SHA-256 of STYLE, base64. */
export const STYLE_HASH = "1O2CnveXdONyLsEVS4WF8Bcagn++A88CaZpSjNQmTI4=";

export const escapeHtml = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");

const KEPT = "saved: leave empty to keep it";

interface Input {
  readonly name: Field;
  readonly label: string;
  readonly note?: string;
  readonly value?: string;
  readonly more?: string;
}

/** The page for `view`. `proof`: CSRF token of the form. `name`: of the device. */
export const page = (view: View, name: string, proof: string): string => {
  const { state } = view;
  if (state === "checking") return frame(name, `<p role="status">${progressText(view)}</p>${AGAIN}`, 2);
  if (state !== "open") return frame(name, `<p role="status"><strong>Connected.</strong> ${DONE}</p>`);
  return frame(name, `${alerts(view)}${form(view, proof)}`);
};

const DONE = "The settings are saved. You can close this page.";
const AGAIN =
  '<p>This page looks again by itself. If it stays away, join the device\'s Wi-Fi once more, or <a href="/">look again</a>.</p>';

const progressText = ({ stage }: View): string => `${escapeHtml(stage === "" ? "Checking" : stage)} &hellip;`;

/** A page that shows one sentence. */
export const notice = (name: string, text: string): string => {
  return frame(name, `<p role="alert">${escapeHtml(text)}</p><p><a href="/">Back to the page</a></p>`);
};

const frame = (name: string, body: string, again?: number): string => {
  const refresh = again === undefined ? "" : `<meta http-equiv="refresh" content="${again}">`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">${refresh}<title>${escapeHtml(name)}</title><style>${STYLE}</style></head><body><main><h1>${escapeHtml(name)}</h1>${body}</main></body></html>`;
};

const alerts = ({ findings }: View): string => {
  if (findings.length === 0) return "";
  const lines = findings.map(({ reason }) => `<div>${escapeHtml(capital(reason))}.</div>`);
  return `<div role="alert" id="wrong">${lines.join("")}</div>`;
};

const capital = (text: string): string => upperCase(text.slice(0, 1)) + text.slice(1);

const form = (view: View, proof: string): string => {
  const { has, ssid, url } = view;
  const secret = (
    name: "password" | "token" | "key" | "secret" | "label",
    label: string,
    note?: string,
  ): string =>
    input(view, {
      name,
      label,
      ...(note !== undefined && { note }),
      more: `type="password"${has[name] ? ` placeholder="${KEPT}"` : ""}`,
    });
  const network = `<h2>Wi-Fi</h2>${input(view, { name: "ssid", label: "Name", value: ssid, note: "2.4 GHz. Capital letters matter." })}${secret("password", "Password", "Empty for an open network.")}`;
  const authority = `<label for="ca">CA certificate<small>PEM, for https with a private CA. &ldquo;none&rdquo; for the built-in CAs.</small></label><textarea id="ca" name="ca" spellcheck="false" autocapitalize="off"${has.ca ? ` placeholder="${KEPT}"` : ""}${wrong(view, "ca")}></textarea>`;
  const proofs = `<h2>Credentials</h2>${secret("token", "Access token", "Or let the device register itself, with the two values below.")}${secret("key", "Provisioning key")}${secret("secret", "Provisioning secret")}`;
  const own = `<h2>This device</h2>${secret("label", "Password of its own Wi-Fi", "8 to 63 characters, as on its label. In use from the next start.")}`;
  return `<form method="post" action="/" autocomplete="off"><input type="hidden" name="proof" value="${proof}">${network}<h2>Platform</h2>${input(view, { name: "url", label: "Address", value: url, note: "https://platform.example.com", more: 'type="text" inputmode="url"' })}<details${has.ca || wrong(view, "ca") ? " open" : ""}><summary>Private certificate</summary>${authority}</details>${proofs}${own}<button>Check and save</button></form><p><small>The device saves the settings after it has connected with them.</small></p>`;
};

const input = (view: View, { name, label, note, value = "", more = 'type="text"' }: Input): string => {
  const hint = note === undefined ? "" : `<small>${escapeHtml(note)}</small>`;
  return `<label for="${name}">${label}${hint}</label><input id="${name}" name="${name}" value="${escapeHtml(value)}" ${more} autocomplete="off" autocapitalize="off" spellcheck="false"${wrong(view, name)}>`;
};

const wrong = ({ findings }: View, field: Field): string => {
  return findings.some((finding) => finding.field === field)
    ? ' aria-invalid="true" aria-describedby="wrong"'
    : "";
};
