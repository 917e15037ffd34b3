// Adds a device, and shows its access token on request.
import type { Device } from "../operator/shapes.js";
import { attempt, button, copyButton, dialog, field, form, h, messageOf } from "./dom.js";
import { runCommand } from "./model/access.js";
import { deviceHref } from "./model/routes.js";
import type { Session } from "./session.js";

export function addDevice(session: Session): void {
  const name = h("input", { required: true, autocomplete: "off", spellcheck: false });
  const problem = h("p", { className: "bad full", role: "alert" });
  const add = async (): Promise<void> => {
    problem.textContent = "";
    try {
      const device = await session.operator.devices.create({ name: name.value });
      place.close();
      showAccess(session, device, "is added");
    } catch (error) {
      problem.textContent = messageOf(error);
    }
  };
  const place = dialog(
    "Add a device",
    form(
      { label: "Add a device" },
      add,
      field("Name", name, "grow"),
      problem,
      h("button", { type: "submit" }, "Add"),
      button("Cancel", () => place.close(), "second"),
    ),
  );
  name.focus();
}

/** Key and secret with which new devices of the profile get a token of their own. */
async function provisioning({ operator }: Session, device: Device): Promise<Node[]> {
  const profile = await operator.profiles.get(device.deviceProfileId?.id ?? "");
  const { provisionConfiguration } = (profile.profileData ?? {}) as Record<string, unknown>;
  const { provisionDeviceSecret: secret } = (provisionConfiguration ?? {}) as Record<string, unknown>;
  const key = profile.provisionDeviceKey;
  if (typeof key !== "string" || typeof secret !== "string") return [];
  return [
    h("h3", {}, `Provisioning key of the profile ${profile.name}`),
    h("pre", {}, key),
    copyButton("provisioning key", () => key),
    h("h3", {}, "Provisioning secret"),
    h("pre", {}, secret),
    copyButton("provisioning secret", () => secret),
  ];
}

/** A dialog with the device's access token and the command that runs a device with it. */
export function showAccess(session: Session, device: Device, what = ""): void {
  const access = h("div", { className: "commands" });
  const reveal = button("Show access token", () =>
    attempt(async () => {
      const { credentialsType, credentialsId } = await session.operator.devices.credentials(device.id.id);
      if (credentialsType !== "ACCESS_TOKEN")
        return access.replaceChildren(`The device connects by ${credentialsType}, not by an access token.`);
      const command = runCommand(location.origin, credentialsId);
      access.replaceChildren(
        h("h3", {}, "Access token"),
        h("pre", {}, credentialsId),
        copyButton("access token", () => credentialsId),
        h("h3", {}, "Run a device on this computer"),
        h("pre", {}, command),
        copyButton("command", () => command),
        h("p", { className: "quiet" }, "Anyone who has the token can send data as this device."),
        ...(await provisioning(session, device)),
      );
    }),
  );
  access.append(
    h(
      "p",
      {},
      "The device connects with its access token. Show the token only if nobody else sees the screen.",
    ),
    reveal,
  );
  // Removes the token from the page at once: a closed dialog stays in it until its event came.
  const close = (): void => element.remove();
  const open = h("a", { href: deviceHref(device.id.id), onclick: close }, "Open the device");
  const element = dialog(
    what === "" ? `Connect ${device.name}` : `${device.name} ${what}`,
    access,
    h("p", { className: "buttons" }, ...(what === "" ? [] : [open]), button("Close", close, "second")),
  );
}
