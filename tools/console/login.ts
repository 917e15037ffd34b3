import { attempt, field, form, h } from "./dom.js";
import type { Page } from "./page.js";

export function loginPage(onLogin: () => void): Page {
  return (place, session) => {
    const username = h("input", { type: "email", autocomplete: "username", required: true });
    const password = h("input", { type: "password", autocomplete: "current-password", required: true });
    const asked = form(
      { label: "Log in", className: "card login" },
      () => {
        void attempt(() => session.login(username.value, password.value)).then((done) => done && onLogin());
      },
      h("h1", {}, "Log in"),
      field("User", username),
      field("Password", password),
      h("button", { type: "submit" }, "Log in"),
      h(
        "p",
        { className: "quiet" },
        "A fresh local platform knows tenant@thingsboard.org with the password tenant.",
      ),
    );
    place.append(asked);
    username.focus();
    return () => {};
  };
}
