// What programs read: the events of `mote run --log json`, by name and member.
import test from "ava";
import type { Agent, AgentEvent, AgentEvents } from "../../../src/index.js";
import { agentOptions, follow } from "../../../tools/run/drive.js";
import type { Event } from "../../../tools/run/messages.js";
import { configFor } from "./images.js";

type EventCase = { [E in AgentEvent]: [E, AgentEvents[E], Event] }[AgentEvent];

const EVENTS: readonly EventCase[] = [
  [
    "provisioned",
    { deviceName: "greenhouse-7", adopted: false },
    { event: "provisioned", deviceName: "greenhouse-7", adopted: false },
  ],
  ["online", {}, { event: "online" }],
  ["offline", { reason: "no route" }, { event: "offline", reason: "no route" }],
  ["delivered", { points: 3 }, { event: "telemetry.delivered", points: 3 }],
  ["delivery", { behind: true, points: 9 }, { event: "telemetry.delivery", behind: true, points: 9 }],
  ["drop", { points: 2, reason: "full" }, { event: "telemetry.dropped", points: 2, reason: "full" }],
  [
    "attributes",
    { keys: ["a", "b"], deleted: ["b"] },
    { event: "attributes.changed", keys: ["a", "b"], deleted: ["b"] },
  ],
  ["rpc", { stage: "received", id: 4, method: "m" }, { event: "rpc.received", id: 4, method: "m" }],
  ["rpc", { stage: "answered", id: 4, method: "m" }, { event: "rpc.answered", id: 4, method: "m" }],
  [
    "firmware",
    { state: "FAILED", version: "2.0.0", error: "why" },
    { event: "firmware.state", state: "FAILED", version: "2.0.0", error: "why" },
  ],
  ["refused", { what: "token", reason: "401" }, { event: "refused", what: "token", reason: "401" }],
  ["restart", { reason: "firmware" }, { event: "restart", reason: "firmware" }],
];

for (const [name, detail, line] of EVENTS) {
  test(`${line.event} is reported with its members`, (t) => {
    const emitted: Event[] = [];
    const on = (event: string, listener: (detail: unknown) => void) => event === name && listener(detail);
    follow({ on } as unknown as Agent, (event) => emitted.push(event));
    t.deepEqual(emitted, [line]);
  });
}

test("updates by URL may come from the hosts that the image lists, and from those of the command line", (t) => {
  const config = { ...configFor("/nowhere"), firmwareHosts: ["files.example.com"] };
  const image = { title: "lamp", version: "1.0.0", urlHosts: ["lamp.example.com:8443"] };
  t.deepEqual(agentOptions(config, image).firmware?.urlHosts, ["lamp.example.com:8443", "files.example.com"]);
  t.deepEqual(
    agentOptions(configFor("/nowhere"), { title: "lamp", version: "1.0.0" }).firmware?.urlHosts,
    [],
  );
});
