// What of the recorded answers is different here on purpose.

/** By the name of the row. */
export const DIFFERENCES: Readonly<Record<string, string>> = {
  'provision: b\'{"deviceName":"{N}d","provisionDeviceKey":"{K}","provisionDeviceSecret":"{S}","token":""}\'':
    "the platform makes up the token: another one each time",
};
