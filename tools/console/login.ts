import { OperatorError } from "../operator/error.js";
import { field, form, h, messageOf } from "./dom.js";
import type { Page } from "./page.js";

export function loginPage(onLogin: () => void): Page {
  return (place, session) => {
    const username = h("input", { type: "email", autocomplete: "username", required: true });
    const password = h("input", { type: "password", autocomplete: "current-password", required: true });
    const problem = h("p", { className: "bad", role: "alert" });
    const login = async (): Promise<void> => {
      problem.textContent = "";
      try {
        await session.operator.login(username.value, password.value);
      } catch (error) {
        const isWrong = error instanceof OperatorError && error.status === 401;
        problem.textContent = isWrong ? "Wrong user name or password." : messageOf(error);
        password.select();
        return;
      }
      onLogin();
    };
    place.append(
      form(
        { label: "Log in", className: "card login" },
        login,
        h("h1", {}, "Log in"),
        field("User", username),
        field("Password", password),
        problem,
        h("button", { type: "submit" }, "Log in"),
        h(
          "p",
          { className: "quiet" },
          "Default login of a new local platform: tenant@thingsboard.org, password tenant.",
        ),
      ),
    );
    username.focus();
    return () => {};
  };
}
