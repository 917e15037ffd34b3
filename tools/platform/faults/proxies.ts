// What proxies in front of the platform say in its place, in their own bytes.

/** Proxy and status. nginx-499 closes the connection without an answer. */
export const PROXIES = [
  ...(["haproxy-503", "haproxy-504", "haproxy-400"] as const),
  ...(["nginx-499", "nginx-502", "nginx-504", "nginx-413", "nginx-414", "nginx-400"] as const),
] as const;
export type ProxyName = (typeof PROXIES)[number];

const HAPROXY: Record<number, [reason: string, text: string]> = {
  400: ["Bad request", "Your browser sent an invalid request."],
  503: ["Service Unavailable", "No server is available to handle this request."],
  504: ["Gateway Time-out", "The server didn't respond in time."],
};
const NGINX: Record<number, [reason: string, title: string, more?: string]> = {
  400: [
    "Bad Request",
    "400 Request Header Or Cookie Too Large",
    "<center>Request Header Or Cookie Too Large</center>\r\n",
  ],
  413: ["Request Entity Too Large", "413 Request Entity Too Large"],
  414: ["Request-URI Too Large", "414 Request-URI Too Large"],
  502: ["Bad Gateway", "502 Bad Gateway"],
  504: ["Gateway Time-out", "504 Gateway Time-out"],
};

/** All that goes out before the connection ends. */
export function proxyBytes(name: ProxyName, now: number): Uint8Array {
  const [proxy, code] = name.split("-") as [string, string];
  const status = Number(code);
  if (status === 499) return new Uint8Array(0);
  return Buffer.from(proxy === "haproxy" ? haproxy(status) : nginx(status, new Date(now).toUTCString()));
}

function haproxyPage(status: number): string {
  const [reason, text] = HAPROXY[status] as [string, string];
  return `<html><body><h1>${status} ${reason}</h1>\n${text}\n</body></html>\n`;
}

function haproxy(status: number): string {
  const [reason] = HAPROXY[status] as [string, string];
  const body = haproxyPage(status);
  const head = `HTTP/1.1 ${status} ${reason}\r\ncontent-length: ${body.length}\r\ncache-control: no-cache\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n`;
  return head + body;
}

function nginx(status: number, date: string): string {
  const [reason, title, more = ""] = NGINX[status] as [string, string, string?];
  const heading = more === "" ? title : "400 Bad Request";
  const body = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${heading}</h1></center>\r\n${more}<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`;
  return `HTTP/1.1 ${status} ${reason}\r\nServer: nginx\r\nDate: ${date}\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
}
