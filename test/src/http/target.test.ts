import test from "ava";
import { isLoopback, parseTarget, parseUrl, resolveUrl } from "../../../src/http/target.js";
import { targetOf } from "./rig.js";

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
  for (const [url, about] of [
    ["", "http://"],
    ["platform.example.com", "http://"],
    ["ftp://a", "http://"],
    ["https:/a", "http://"],
    ["https://", "host"],
    ["https:///x", "host"],
    ["https://secret:secret@a", "user name"],
    ["https://a/x@y", "user name"],
    ["https://a/?secret=1", "query"],
    ["https://a/#secret", "query"],
    ["https://a b", "host"],
    ["https://a\r\nX: y", "http://"],
    ["https://bücher.example", "host"],
    ["https://[::1", "host"],
    ["https://[::1]x", "host"],
    ["https://::1", "host"],
    ["https://a:0", "port"],
    ["https://a:65536", "port"],
    ["https://a:-1", "host"],
    ["https://a:", "host"],
    ["https://a/x//y", "path"],
    ["https://a/x y", "path"],
    ["https://a/x;y", "path"],
    ["https://a/%zz", "path"],
  ] as const) {
    const parsed = parseTarget(url);
    t.false(parsed.ok, url);
    if (parsed.ok) continue;
    t.true(parsed.reason.includes(about), `${url}: ${parsed.reason}`);
    t.false(parsed.reason.includes("secret"));
  }
  for (const url of [undefined, null, 5, {}]) t.false(parseTarget(url as never).ok);
});

test("loopback is this machine and nothing that sounds like it", (t) => {
  for (const host of [
    "localhost",
    "LOCALHOST",
    "a.localhost",
    "127.0.0.1",
    "127.9.9.9",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
  ])
    t.true(isLoopback(targetOf(`http://${host}:8080`)), host);
  for (const host of [
    "localhost.example",
    "notlocalhost",
    "127.0.0.1.example",
    "127.1",
    "1.127.0.0",
    "[::2]",
    "[::ffff:10.0.0.1]",
  ])
    t.false(isLoopback(targetOf(`http://${host}`)), host);
});

test("a redirect's address is resolved as browsers do it", (t) => {
  const from = "https://a.test:8443/b/c/d?q=1#f";
  for (const [location, to] of [
    ["http://other.test/x", "http://other.test/x"],
    ["//other.test/x", "https://other.test/x"],
    ["/x", "https://a.test:8443/x"],
    ["x", "https://a.test:8443/b/c/x"],
    ["?y=2", "https://a.test:8443/b/c/d?y=2"],
    ["x?y=/../z", "https://a.test:8443/b/c/x?y=/../z"],
    ["../x", "https://a.test:8443/b/x"],
    ["./x", "https://a.test:8443/b/c/x"],
    ["../../../../x", "https://a.test:8443/x"],
    [".", "https://a.test:8443/b/c/"],
    ["..", "https://a.test:8443/b/"],
    ["../..", "https://a.test:8443/"],
    ["/.", "https://a.test:8443/"],
    ["/..", "https://a.test:8443/"],
    ["x/.", "https://a.test:8443/b/c/x/"],
    ["/x/../y/./z?a=../b", "https://a.test:8443/y/z?a=../b"],
    ["mailto:x", "mailto:x"],
  ] as const)
    t.is(resolveUrl(from, location), to, location);
  t.is(resolveUrl("http://a.test", "x"), "http://a.test/x");
  t.is(resolveUrl("http://a.test?q", "x"), "http://a.test/x");
});

test("a file's URL gives where to connect, its query, and no fragment", (t) => {
  for (const [url, authority, path] of [
    ["https://files.test/a/b.bin?k=v&w=@:", "files.test", "/a/b.bin?k=v&w=@:"],
    ["HTTPS://Files.Test:443", "files.test", "/"],
    ["http://files.test:8080?x", "files.test:8080", "/?x"],
    ["https://files.test/a#part", "files.test", "/a"],
    ["https://[::1]:8443/a?y=1#z", "[::1]:8443", "/a?y=1"],
  ] as const) {
    const file = parseUrl(url);
    t.deepEqual([file?.target.authority, file?.target.prefix, file?.path], [authority, "", path], url);
  }
  const wrong = ["", "/a", "https:///a", "https://files.test:0/", "files.test/a", "ftp://files.test/a"];
  const hidden = ["a b", "\r\nX: y", "ü"].map((path) => `https://files.test/${path}`);
  const users = ["a:b@files.test/", "files.test@evil.test/a", "files.test\\@evil.test/"];
  for (const url of [...wrong, ...hidden, ...users.map((rest) => `https://${rest}`)])
    t.is(parseUrl(url), undefined, url);
});
