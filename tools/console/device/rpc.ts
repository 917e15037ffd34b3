// Server-side RPC: the last answer in full, and a history of calls with their durations.
import { duration } from "../../duration.js";
import { OperatorError } from "../../operator/error.js";
import { lossyNumber } from "../../operator/typed-json.js";
import { copyButton, field, form, h, option, section, show } from "../dom.js";
import { clock, shown } from "../model/format.js";
import type { Part, Place } from "../page.js";
import { Table } from "../table.js";

const WAYS = ["two-way", "one-way", "persistent"] as const;
type Way = (typeof WAYS)[number];
const KEPT = 20;
const COLUMNS = [
  { text: "Time", size: "middle" },
  { text: "Call" },
  { text: "Answer" },
  { text: "Took", size: "small" },
] as const;

interface Call {
  number: number;
  at: number;
  way: Way;
  method: string;
  params: string;
  /** For the history. */
  answer: string;
  /** The device's answer; undefined until it comes. */
  value: unknown;
  ms: number | undefined;
  /** The device answered with an error, or not at all. */
  failed: boolean;
  rpcId?: string;
}

export function rpcPart({ session, device }: Place): Part {
  const calls: Call[] = [];
  let number = 0;
  const history = new Table(COLUMNS, { empty: "No calls yet.", label: "Calls" });
  const method = h("input", {
    required: true,
    autocomplete: "off",
    spellcheck: false,
    placeholder: "setLed",
  });
  const params = h("textarea", { rows: 2, spellcheck: false, value: "{}" });
  const way = h("select", {}, ...WAYS.map((name) => option(name)));
  const timeout = h("input", { type: "number", min: "5", max: "3600", value: "10", required: true });
  params.oninput = () => params.setCustomValidity(problemOf(params.value));
  const full = h("pre", { tabIndex: 0, role: "region", aria: { label: "Full answer" } });
  const copy = copyButton("answer", () => full.textContent ?? "");
  const answer = h("div", { className: "answer", hidden: true }, full, copy);

  const draw = (): void => {
    const [last] = calls;
    answer.hidden = last?.value === undefined;
    if (last?.value !== undefined) show(full, pretty(last.value));
    history.show(
      calls.map((call) => ({
        id: String(call.number),
        cells: [
          clock(call.at, Date.now()),
          `${call.method}(${call.params})`,
          h("span", { className: call.failed ? "bad" : "" }, call.answer),
          call.ms === undefined ? "" : duration(call.ms),
        ],
      })),
    );
  };
  const send = async (): Promise<void> => {
    const call: Call = {
      number: ++number,
      at: Date.now(),
      way: way.value as Way,
      method: method.value,
      params: params.value.trim(),
      answer: "…",
      value: undefined,
      ms: undefined,
      failed: false,
    };
    calls.unshift(call);
    calls.length = Math.min(calls.length, KEPT);
    draw();
    try {
      await run(call);
    } catch (error) {
      call.answer = failure(error);
      call.failed = true;
    }
    call.ms = Date.now() - call.at;
    draw();
  };
  const run = async (call: Call): Promise<void> => {
    const { rpc } = session.operator;
    const id = device.id.id;
    const value: unknown = call.params === "" ? null : JSON.parse(call.params);
    const timeoutMs = Number(timeout.value) * 1_000;
    if (call.way === "two-way") {
      call.value = await rpc.twoWay(id, call.method, value, { timeoutMs });
      call.answer = shown(call.value);
      call.failed = isError(call.value);
    } else if (call.way === "one-way") {
      await rpc.oneWay(id, call.method, value, { timeoutMs });
      call.answer = "sent";
    } else {
      call.rpcId = await rpc.persistent(id, call.method, value, { expirationTime: Date.now() + timeoutMs });
      await look(call);
    }
  };
  const look = async (call: Call): Promise<void> => {
    const { status, response } = await session.operator.rpc.get(call.rpcId ?? "");
    call.value = response ?? undefined;
    call.failed = ["TIMEOUT", "EXPIRED", "FAILED"].includes(status) || isError(call.value);
    call.answer = call.value === undefined ? status : `${status} ${shown(response)}`;
    call.ms = Date.now() - call.at;
    draw();
  };

  const asked = form(
    { label: "Call a method" },
    () => {
      void send();
    },
    field("Method", method),
    field("Way", way),
    field("Seconds", timeout, "short"),
    field("Params (JSON)", params, "full"),
    h("button", { type: "submit" }, "Call"),
  );
  const end = session.on("rpc", ({ rpcId }) => {
    const call = calls.find((one) => one.rpcId === rpcId);
    if (call) void look(call);
  });
  return { element: section("RPC", "card", asked, answer, history.element), end };
}

/** `{"error":{"code":"METHOD_NOT_FOUND"}}` */
const isError = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).join() === "error";

const pretty = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value, undefined, 2);

function failure(error: unknown): string {
  if (error instanceof OperatorError && [408, 409, 504].includes(error.status)) return "no answer in time";
  return error instanceof Error ? error.message : String(error);
}

/** Empty if the params can be sent. */
function problemOf(params: string): string {
  if (params.trim() === "") return "";
  try {
    JSON.parse(params);
  } catch {
    return "Invalid JSON";
  }
  return lossyNumber(params) === undefined ? "" : "A number in it would be rounded: send it as text.";
}
