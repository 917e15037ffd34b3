// What diagnostics ask of an agent, with nothing behind it.
import type { AgentEvent, AgentEvents } from "../../../src/index.js";

export class FakeAgent {
  readonly published: Readonly<Record<string, unknown>>[] = [];
  readonly listeners: [AgentEvent, (detail: never) => void][] = [];
  handler: (params: unknown) => unknown = () => undefined;
  state = "online" as const;
  platformTime: number | undefined;
  readonly counters = { roundTrips: 0, retries: 0, fetchedTwice: 0, malformedAnswers: 0 };
  readonly telemetry = { waiting: 0, dropped: { full: 0, refused: 0, unreadable: 0 } };
  /** Throws to refuse. */
  hasRoom = true;
  readonly attributes = {
    publish: (values: Readonly<Record<string, unknown>>) => {
      if (!this.hasRoom) return false;
      this.published.push(values);
      return true;
    },
  };
  readonly rpc = {
    answerBytes: 8192,
    handle: <P>(_method: string, handler: (params: P) => unknown) => {
      this.handler = handler as (params: unknown) => unknown;
    },
  };

  on<E extends AgentEvent>(event: E, listener: (detail: AgentEvents[E]) => void): () => void {
    const entry: [AgentEvent, (detail: never) => void] = [event, listener as (detail: never) => void];
    this.listeners.push(entry);
    return () => void this.listeners.splice(this.listeners.indexOf(entry), 1);
  }

  emit<E extends AgentEvent>(event: E, detail: AgentEvents[E]): void {
    for (const [name, call] of this.listeners.slice()) if (name === event) call(detail as never);
  }
}
