import type { FormatName } from "./formats.js";

export interface ReportFlags {
  url?: string;
  authUrl?: string;
  view: string;
  from?: number;
  to?: number;
  filter?: Record<string, string[]>;
  date?: string[];
  format?: FormatName;
  output?: string;
  username?: string;
  jwt?: string;
  api: string;
  jwtIn: "header" | "bearer" | "query";
  deadline: number;
  ca?: string;
}
