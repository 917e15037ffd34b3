// The public names of the report API's client: `mote/report`. A device that builds no reports does not pay for it.
export type { Host } from "../port.js";
export type { Cell, Row, RowTaker } from "../wire/report.js";
export { ReportError, type ReportErrorCode } from "./errors.js";
export type { ReportOptions } from "./options.js";
export { type ReportEnd, type ReportRequest, Reports } from "./report.js";
export { Session, type SessionOptions } from "./session.js";
