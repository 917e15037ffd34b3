// The setup page of a device, used as a browser does.
import { until } from "./until.js";

/** The page knows by it what was entered before. */
let cookie = "";

async function visit(url: string, body?: URLSearchParams): Promise<string> {
  const method = body ? "POST" : "GET";
  const response = await fetch(url, { method, headers: { cookie }, redirect: "manual", body: body ?? null });
  cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
  return response.text();
}

export const setupPage = (url: string): Promise<string> => visit(url);

/** Fills in the form and submits it. Returns the answer. */
export async function fillIn(url: string, values: Record<string, string>): Promise<string> {
  const [, proof = ""] = /name="proof" value="(\w+)"/.exec(await setupPage(url)) ?? [];
  return visit(url, new URLSearchParams({ proof, ...values }));
}

/** The page once the device has asked the platform. */
export const checkedPage = (url: string): Promise<string> =>
  until(async () => {
    const page = await setupPage(url);
    return page.includes("Asking the platform") ? undefined : page;
  });
