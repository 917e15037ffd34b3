/** Digits and dots alone: no host name is written so. */
export const isIpv4 = (name: string): boolean => {
  for (const char of name) if (!"0123456789.".includes(char)) return false;
  return name !== "";
};
