/** The logins of a fresh platform. */
export const TENANT = { username: "tenant@thingsboard.org", password: "tenant" } as const;
export const CUSTOMER = { username: "customer@thingsboard.org", password: "customer" } as const;

/** Shell lines to try in another terminal, once the device exists. `packageId` is the package of firmware 2.0.0. */
export function hints(url: string, deviceId: string, packageId: string): string[] {
  const login = JSON.stringify(TENANT);
  const json = "-H 'Content-Type: application/json'";
  const telemetry = `${url}/api/plugins/telemetry/DEVICE/${deviceId}`;
  const firmware = `"firmwareId":{"entityType":"OTA_PACKAGE","id":"${packageId}"}`;
  return [
    "Try in another terminal. Log in as the tenant first:",
    `  JWT=$(curl -s ${json} -d '${login}' ${url}/api/auth/login | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    `  api() { curl -s -H "X-Authorization: Bearer $JWT" ${json} "$@"; }`,
    "a two-way RPC:",
    `  api ${url}/api/rpc/twoway/${deviceId} -d '{"method":"setLed","params":{"on":true}}'`,
    "a shared attribute, the interval in seconds:",
    `  api ${telemetry}/attributes/SHARED_SCOPE -d '{"interval":0.5}'`,
    "the latest telemetry:",
    `  api '${telemetry}/values/timeseries?useStrictDataTypes=true'`,
    "the update to firmware 2.0.0:",
    `  api ${url}/api/device/${deviceId} | sed 's/"firmwareId":null/${firmware}/' | api ${url}/api/device -d @-`,
  ];
}
