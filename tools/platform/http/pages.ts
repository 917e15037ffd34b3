// The pages of the web server under the platform (Tomcat), for requests that never reach the platform.

import type { DeviceResponse } from "../device/messages.js";

const TITLES = {
  400: "Bad Request",
  417: "Expectation Failed",
  501: "Not Implemented",
  505: "HTTP Version Not Supported",
} as const;
const STYLE =
  "body {font-family:Tahoma,Arial,sans-serif;} h1, h2, h3, b {color:white;background-color:#525D76;} h1 {font-size:22px;} h2 {font-size:16px;} h3 {font-size:14px;} p {font-size:12px;} a {color:black;} .line {height:1px;background-color:#525D76;border:none;}";

export function page(status: keyof typeof TITLES): DeviceResponse {
  const title = `HTTP Status ${status} – ${TITLES[status]}`;
  const body = Buffer.from(
    `<!doctype html><html lang="en"><head><title>${title}</title><style type="text/css">${STYLE}</style></head><body><h1>${title}</h1></body></html>`,
  );
  const headers = { "Content-Type": "text/html;charset=utf-8", "Content-Language": "en" };
  return { status, headers, body };
}
