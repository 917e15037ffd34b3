import { OperatorError } from "../operator/error.js";
import { type Context, html, messageOf, onSubmit, type Page, type TemplateResult } from "./ui.js";

export class LoginPage implements Page {
  readonly title = "";
  readonly #context: Context;
  readonly #onLogin: () => void;
  #problem = "";

  constructor(context: Context, onLogin: () => void) {
    this.#context = context;
    this.#onLogin = onLogin;
  }

  async read(): Promise<void> {}

  view(): TemplateResult {
    return html`<form class="card login" aria-label="Log in" @submit=${onSubmit((values) => this.#login(values))}>
      <h1 tabindex="-1">Log in</h1>
      <label>User<input name="username" type="email" autocomplete="username" required autofocus /></label>
      <label>Password<input name="password" type="password" autocomplete="current-password" required /></label>
      <p class="bad" role="alert">${this.#problem}</p>
      <button>Log in</button>
      <p class="quiet">Default login of a new local platform: tenant@thingsboard.org, password tenant.</p>
    </form>`;
  }

  async #login({ username = "", password = "" }: Record<string, string>): Promise<void> {
    try {
      await this.#context.session.operator.login(username, password);
    } catch (error) {
      const isWrong = error instanceof OperatorError && error.status === 401;
      this.#problem = isWrong ? "Wrong user name or password." : messageOf(error);
      this.#context.refresh();
      return;
    }
    this.#onLogin();
  }
}
