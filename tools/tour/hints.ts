import { relative } from "node:path";

/** The logins of a fresh platform. */
export const TENANT = { username: "tenant@thingsboard.org", password: "tenant" } as const;
export const CUSTOMER = { username: "customer@thingsboard.org", password: "customer" } as const;

/** Commands to try in another terminal. `mote`: how it is called there; `image`: firmware 2.0.0. */
export function hints(mote: string, device: string, image: string): string[] {
  const file = relative(process.cwd(), image);
  return [
    "Try in another terminal. Call an RPC:",
    `  ${mote} rpc ${device} setLed '{"on":true}'`,
    "Set a shared attribute, the interval in seconds:",
    `  ${mote} attributes set ${device} interval=0.5`,
    "Show the latest telemetry:",
    `  ${mote} telemetry ${device}`,
    "Update to firmware 2.0.0:",
    `  ${mote} firmware push ${file} --title sample --version 2.0.0 --device ${device}`,
  ];
}
