// Figures as the reports of a build print them.

/** 12345 -> `12,345` */
export const number = (value: number): string => value.toLocaleString("en");

/** `part` of `of`, in per cent. */
export const share = (part: number, of: number): string => `${((100 * part) / of).toFixed(1)} %`;
