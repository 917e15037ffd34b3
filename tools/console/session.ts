// The login, without a cookie, and the events of the platform. Lasts as long as the tab.
import { OperatorError } from "../operator/error.js";
import { Operator } from "../operator/operator.js";
import type { Session as Tokens } from "../operator/rest.js";
import type { LoggedRequest } from "../operator/shapes.js";
import { Deletions } from "./deletions.js";

const KEPT = "mote-session";

export interface Telemetry {
  deviceId: string;
  ts: number;
  values: Record<string, unknown>;
}

export interface Events {
  telemetry: Telemetry;
  attributes: { deviceId: string; scope: string };
  rpc: { deviceId: string; rpcId: string; status: string };
  device: { deviceId: string };
  request: LoggedRequest;
  /** The connection to the platform. After `up`, read what was missed meanwhile. */
  line: { up: boolean };
}

type Listeners = { [K in keyof Events]: Set<(event: Events[K]) => void> };

export class Session {
  readonly operator: Operator;
  readonly deletions: Deletions;
  #tokens: Tokens | undefined;
  #ended: AbortController | undefined;
  readonly #listeners: Listeners = {
    ...{ telemetry: new Set(), attributes: new Set(), rpc: new Set() },
    ...{ device: new Set(), request: new Set(), line: new Set() },
  };

  constructor() {
    this.#tokens = readTokens();
    this.deletions = new Deletions((path) => this.#delete(path));
    this.operator = new Operator({
      url: location.origin,
      session: this.#tokens,
      onSession: (tokens) => {
        this.#tokens = tokens;
        sessionStorage.setItem(KEPT, JSON.stringify(tokens));
      },
    });
  }

  get isOpen(): boolean {
    return this.#tokens !== undefined;
  }

  /** Whether the login may add, delete and update devices. */
  get isTenant(): boolean {
    return this.operator.authority === "TENANT_ADMIN";
  }

  logout(): void {
    this.#ended?.abort();
    this.#tokens = undefined;
    this.operator.logout();
    sessionStorage.removeItem(KEPT);
  }

  async #delete(path: string): Promise<void> {
    const token = this.#tokens?.token;
    const send = (bearer: string | undefined): Promise<Response> =>
      fetch(path, {
        method: "DELETE",
        headers: { "x-authorization": `Bearer ${bearer ?? ""}` },
      });
    let response = await send(token);
    if (response.status === 401) {
      await this.operator.refresh();
      response = await send(this.#tokens?.token);
    }
    if (response.ok) return;
    const { message } = (await response.json().catch(() => ({}))) as { message?: string };
    throw new OperatorError(response.status, message ?? `status ${response.status}`);
  }

  /** Uploads a package's file. XMLHttpRequest, because fetch reports no progress. */
  upload(
    packageId: string,
    file: File,
    { algorithm, checksum }: { algorithm: string; checksum: string | undefined },
    onSent: (share: number) => void,
  ): Promise<void> {
    const form = new FormData();
    form.set("file", file);
    const query = new URLSearchParams({ checksumAlgorithm: algorithm, ...(checksum && { checksum }) });
    const request = new XMLHttpRequest();
    request.open("POST", `/api/otaPackage/${packageId}?${query}`);
    request.setRequestHeader("x-authorization", `Bearer ${this.#tokens?.token ?? ""}`);
    request.upload.onprogress = ({ loaded, total }) => onSent(loaded / total);
    return new Promise((resolve, reject) => {
      request.onload = () => {
        if (request.status === 200) resolve();
        else reject(new Error(`the platform refused the upload (status ${request.status})`));
      };
      request.onerror = () => reject(new Error("the connection broke during the upload: try again"));
      request.send(form);
    });
  }

  /** Calls the listener until the result is called. */
  on<K extends keyof Events>(kind: K, listener: (event: Events[K]) => void): () => void {
    this.#listeners[kind].add(listener);
    return () => this.#listeners[kind].delete(listener);
  }

  /** Reads events until `logout`; reconnects. Rejects when the session has ended. */
  async follow(): Promise<void> {
    this.#ended?.abort();
    const ended = new AbortController();
    this.#ended = ended;
    for (let waitMs = 500; !ended.signal.aborted; waitMs = Math.min(waitMs * 2, 10_000)) {
      try {
        await this.#stream(ended.signal, () => {
          waitMs = 500;
        });
      } catch (error) {
        // A 401 means that the session has ended. Every other failure is retried.
        if (error instanceof OperatorError && error.status === 401) throw error;
      }
      this.#notify("line", { up: false });
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  async #stream(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const headers = { "x-authorization": `Bearer ${this.#tokens?.token ?? ""}`, accept: "text/event-stream" };
    const response = await fetch("/api/console/events", { headers, signal, cache: "no-store" });
    if (response.status === 401) await this.operator.refresh();
    // A customer's login has no live events.
    if (response.status === 403) this.#ended?.abort();
    if (!response.ok || !response.body) return;
    onOpen();
    this.#notify("line", { up: true });
    const decoder = new TextDecoder();
    let text = "";
    for await (const piece of response.body) {
      text += decoder.decode(piece, { stream: true });
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) this.#read(event);
    }
  }

  #read(text: string): void {
    const found = /^event: (\w+)\ndata: (.*)$/.exec(text);
    if (!found) return;
    const [, kind = "", data = ""] = found;
    if (Object.hasOwn(this.#listeners, kind)) this.#notify(kind as keyof Events, JSON.parse(data));
  }

  #notify<K extends keyof Events>(kind: K, event: Events[K]): void {
    for (const listener of [...this.#listeners[kind]]) listener(event);
  }
}

function readTokens(): Tokens | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null") as Tokens | null;
    return typeof kept?.token === "string" && typeof kept.refreshToken === "string" ? kept : undefined;
  } catch {
    return undefined;
  }
}
