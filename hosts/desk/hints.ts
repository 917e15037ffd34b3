/** The logins of a fresh platform. */
export const TENANT = { username: "tenant@thingsboard.org", password: "tenant" } as const;
export const CUSTOMER = { username: "customer@thingsboard.org", password: "customer" } as const;

/** What to try in another terminal, once the device exists. `packageId` is the package of firmware 2.0.0. */
export function hints(url: string, deviceId: string, packageId: string): string[] {
  const json = "-H 'Content-Type: application/json'";
  const call = `curl -s -H "X-Authorization: Bearer $JWT" ${json}`;
  const login = JSON.stringify(TENANT);
  const firmware = `"firmwareId":{"entityType":"OTA_PACKAGE","id":"${packageId}"}`;
  return [
    "Try in another terminal, logged in as the tenant:",
    `  JWT=$(curl -s ${json} -d '${login}' ${url}/api/auth/login | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    "a two-way RPC:",
    `  ${call} -d '{"method":"setLed","params":{"on":true}}' ${url}/api/rpc/twoway/${deviceId}`,
    "a shared attribute, the interval in seconds:",
    `  ${call} -d '{"interval":0.5}' ${url}/api/plugins/telemetry/DEVICE/${deviceId}/attributes/SHARED_SCOPE`,
    "the latest telemetry:",
    `  ${call} '${url}/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?useStrictDataTypes=true'`,
    "the update to firmware 2.0.0:",
    `  ${call} ${url}/api/device/${deviceId} | sed 's/"firmwareId":null/${firmware}/' | ${call} -d @- ${url}/api/device`,
  ];
}
