// The public API of the report client, `mote/report`: a user's program reads tables from the
// analytics report API. It does not belong to the device agent.
export type { Host } from "../port.js";
export type { Cell, Row, RowTaker } from "../wire/report.js";
export { ReportError, type ReportErrorCode } from "./errors.js";
export type { ReportOptions } from "./options.js";
export { type ReportEnd, type ReportRequest, Reports } from "./report.js";
export { Session, type SessionOptions } from "./session.js";
