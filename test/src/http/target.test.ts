import test from "ava";
import { parseTarget, parseUrl, resolveUrl } from "../../../src/http/target.js";

test("a base URL gives scheme, name, port, prefix and authority", (t) => {
  for (const [url, secure, name, port, prefix, authority] of [
    ["https://platform.example.com", true, "platform.example.com", 443, "", "platform.example.com"],
    ["HTTP://Platform.Example.COM/", false, "platform.example.com", 80, "", "platform.example.com"],
    ["http://localhost:8080", false, "localhost", 8080, "", "localhost:8080"],
    ["https://a:443/", true, "a", 443, "", "a"],
    ["http://a:443", false, "a", 443, "", "a:443"],
    ["http://tb_node:8081/tb/x%20y//", false, "tb_node", 8081, "/tb/x%20y", "tb_node:8081"],
    ["http://192.168.1.4:9090", false, "192.168.1.4", 9090, "", "192.168.1.4:9090"],
    ["https://[2001:DB8::1]", true, "2001:db8::1", 443, "", "[2001:db8::1]"],
    ["http://[::1]:8080/a", false, "::1", 8080, "/a", "[::1]:8080"],
  ] as const) {
    t.deepEqual(parseTarget(url), { ok: true, target: { secure, name, port, prefix, authority } }, url);
  }
});

test("a base URL that can't be used is refused, and not quoted", (t) => {
  for (const [about, urls] of Object.entries({
    "http://": ["", "platform.example.com", "ftp://a", "https:/a", "https://a\r\nX: y"],
    host: [
      "https://",
      "https:///x",
      "https://a b",
      "https://[::1",
      "https://[::1]x",
      "https://::1",
      "https://a:",
    ],
    "user name": ["https://secret:secret@a", "https://a/x@y"],
    query: ["https://a/?secret=1", "https://a/#secret"],
    port: ["https://a:0", "https://a:65536"],
    path: ["https://a/x//y", "https://a/x y", "https://a/x;y", "https://a/%zz"],
  }))
    for (const url of urls) {
      const parsed = parseTarget(url);
      const reason = parsed.ok ? "accepted" : parsed.reason;
      t.true(reason.includes(about), `${url}: ${reason}`);
      t.false(reason.includes("secret"));
    }
  for (const url of [undefined, null, 5]) t.false(parseTarget(url as never).ok);
});

test("a redirect leads to a URL, another host, a path, or a file of the same folder", (t) => {
  for (const [location, to] of [
    ["http://other.test/x", "http://other.test/x"],
    ["//other.test/x", "https://other.test/x"],
    ["/x?y=/../z", "https://a.test:8443/x?y=/../z"],
    ["/a:b", "https://a.test:8443/a:b"],
    ["x", "https://a.test:8443/b/c/x"],
    ["../x", "https://a.test:8443/b/c/../x"],
  ] as const)
    t.is(resolveUrl("https://a.test:8443/b/c/d?q=1/2#f/", location), to, location);
  for (const from of ["http://a.test", "http://a.test?q", "http://a.test#/f"])
    t.is(resolveUrl(from, "x"), "http://a.test/x");
  for (const location of ["mailto:x", "?y=2"])
    t.is(parseUrl(resolveUrl("https://a.test/b", location)), undefined, location);
});

test("a file's URL gives where to connect, its query, and no fragment", (t) => {
  for (const [url, authority, path] of [
    ["https://files.test/a/b.bin?k=v&w=@:", "files.test", "/a/b.bin?k=v&w=@:"],
    ["HTTPS://Files.Test:443", "files.test", "/"],
    ["http://files.test:8080?x", "files.test:8080", "/?x"],
    ["https://files.test/a#part", "files.test", "/a"],
    ["https://[::1]:8443/a?y=1#z", "[::1]:8443", "/a?y=1"],
    ["https://files.test/a b", "files.test", "/a%20b"],
    ["https://files.test/ü", "files.test", "/%C3%BC"],
  ] as const) {
    const file = parseUrl(url);
    t.deepEqual([file?.target.authority, file?.target.prefix, file?.path], [authority, "", path], url);
  }
  const wrong = ["", "/a", "https:///a", "https://files.test:0/", "files.test/a", "ftp://files.test/a"];
  const hidden = ["https://files.test/\r\nX: y"];
  const users = ["a:b@files.test/", "files.test@evil.test/a", "files.test\\@evil.test/"];
  for (const url of [...wrong, ...hidden, ...users.map((rest) => `https://${rest}`)])
    t.is(parseUrl(url), undefined, url);
});
