// A local platform with its operator's REST, on a clock that a test moves by hand.
import anyTest, { type TestFn } from "ava";
import { type Platform, startPlatform } from "../../../../tools/platform/server.js";
import { VirtualClock } from "../rig.js";

export interface Answer {
  status: number;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever came
  json: any;
}

export interface Context {
  platform: Platform;
  clock: VirtualClock;
  tenant: string;
  customer: string;
  call(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  deviceId: string;
}

export const test = anyTest as TestFn<Context>;
export const TOKEN = "the-device-token";
export const NIL = "13814000-1dd2-11b2-8080-808080808080";
export const UNKNOWN = "00000000-0000-4000-8000-000000000000";

test.beforeEach(async (t) => {
  const clock = new VirtualClock();
  const platform = await startPlatform({ port: 0, clock, log: (line) => t.fail(line) });
  const call: Context["call"] = async (method, path, body, token = t.context.tenant) => {
    const headers: Record<string, string> = token === "" ? {} : { "x-authorization": `Bearer ${token}` };
    const init: RequestInit = { method, headers };
    if (body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = typeof body === "string" ? body : JSON.stringify(body);
    }
    const response = await fetch(platform.url + path, init);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
    return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined };
  };
  t.context = { platform, clock, call, tenant: "", customer: "", deviceId: "" };
  const login = async (name: string): Promise<string> =>
    (await call("POST", "/api/auth/login", { username: `${name}@thingsboard.org`, password: name }, "")).json
      .token;
  t.context.tenant = await login("tenant");
  t.context.customer = await login("customer");
  const created = await call("POST", `/api/device?accessToken=${TOKEN}`, { name: "d", type: "default" });
  t.context.deviceId = created.json.id.id;
});

test.afterEach.always((t) => t.context.platform.close());
