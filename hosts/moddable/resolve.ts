// biome-ignore lint/style/useNodejsImportProtocol: the SDK's module of this name
import Net from "net";
import Timer from "timer";

/**
 * Calls `found` once, later, with an IPv4 address, or undefined if the name is unknown. On the
 * simulator, resolves only the first name.
 */
export const resolve = (name: string, found: (address: string | undefined) => void): void => {
  const known = isIpv4(name) ? name : name === "localhost" ? "127.0.0.1" : undefined;
  if (known !== undefined) {
    Timer.set(() => found(known), 0);
    return;
  }
  try {
    Net.resolve(name, (_: string, first?: string) => found(first));
  } catch {
    Timer.set(() => found(undefined), 0);
  }
};

/** Only digits and dots, as in no host name. */
const isIpv4 = (name: string): boolean => {
  for (const char of name) if (!"0123456789.".includes(char)) return false;
  return name !== "";
};
