// The login, without a cookie. It lasts as long as the tab.
import { Operator } from "../operator/operator.js";
import type { Session as Tokens } from "../operator/rest.js";

const KEPT = "mote-session";

export class Session {
  readonly operator: Operator;
  #isOpen: boolean;

  constructor() {
    const kept = readTokens();
    this.#isOpen = kept !== undefined;
    this.operator = new Operator({
      url: location.origin,
      session: kept,
      onSession: (tokens) => {
        this.#isOpen = true;
        sessionStorage.setItem(KEPT, JSON.stringify(tokens));
      },
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether the login may add, delete and update devices. */
  get isTenant(): boolean {
    return this.operator.authority === "TENANT_ADMIN";
  }

  logout(): void {
    this.#isOpen = false;
    this.operator.logout();
    sessionStorage.removeItem(KEPT);
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
