// The public API of the report client, `mote-agent/report`: a program on Node reads tables from the
// analytics report API. It shares nothing with the device agent.
export { ReportError, type ReportErrorCode } from "./errors.js";
export type { ReportOptions } from "./options.js";
export type { Cell, Row, RowTaker } from "./question.js";
export { type ReportEnd, type ReportRequest, Reports } from "./reports.js";
export { Session, type SessionOptions } from "./session.js";
