/**
 * Parses the date format of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate). ms since
 * 1970; undefined for an invalid date, and for a leap second. The engine parses other formats too,
 * so only what it would write itself is valid.
 */
export const parseDate = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  return ms >= 0 && new Date(ms).toUTCString() === text ? ms : undefined;
};
