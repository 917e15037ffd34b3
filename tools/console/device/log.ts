// The device's own log, read on request by the RPC `mote.log`.

import { duration } from "../../duration.js";
import { logAnswer } from "../../operator/device-log.js";
import { OperatorError } from "../../operator/error.js";
import { button, h, section, show } from "../dom.js";
import { rowsOf } from "../model/log-rows.js";
import type { Part, Place } from "../page.js";
import { Table } from "../table.js";

const COLUMNS = [
  { text: "Time", size: "middle" },
  { text: "Level", size: "tiny" },
  { text: "Text" },
] as const;

export function logPart({ session, device }: Place): Part {
  const state = h("p", { className: "quiet", role: "status" }, "The device keeps its log over restarts.");
  const table = new Table(COLUMNS, { label: "Device log" });
  const read = button("Read the log", async () => {
    read.disabled = true;
    show(state, "Asking the device…");
    try {
      const value = await session.operator.rpc.twoWay(device.id.id, "mote.log", {});
      const answer = logAnswer(value);
      show(state, answer ? `Up ${duration(answer.uptime * 1_000)}.` : "This firmware keeps no log.");
      table.show(answer ? rowsOf(answer, Date.now()) : []);
    } catch (error) {
      const isSilent = error instanceof OperatorError && [408, 409, 504].includes(error.status);
      show(state, isSilent ? "The device did not answer: it is offline or asleep." : String(error));
    } finally {
      read.disabled = false;
    }
  });
  const list = h(
    "div",
    { className: "scroll", tabIndex: 0, role: "region", aria: { label: "Log lines, scrollable" } },
    table.element,
  );
  return { element: section("Log", "card", state, h("p", {}, read), list), end: () => {} };
}
