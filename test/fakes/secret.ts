// Tokens for tests that have no provisioning.
import type { PlatformSession } from "../../src/platform/session.js";
import { devicePrefix } from "../../src/wire/paths.js";
import { type Binding, Secret } from "../../src/wire/secret.js";

const BINDING: Binding = { scheme: "http", address: "platform.test", authorities: undefined };
export const secretOf = (text: string, binding = BINDING): Secret => new Secret(text, binding);
/** What `session.authorize` takes for `token`. */
export const tokenFor = ({ binding }: PlatformSession, token: string): Secret =>
  devicePrefix(new Secret(token, binding));
