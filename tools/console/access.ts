// A device's access token and provisioning secrets, shown on request only.
import type { Device } from "../operator/shapes.js";
import { attempt, type Context, html, openDialog } from "./ui.js";

/** The command that runs the device, for a POSIX shell. Other users can see arguments. */
const runCommand = (token: string): string =>
  `MOTE_TOKEN='${token.replaceAll("'", `'\\''`)}' npx mote-cli run --url ${location.origin}`;

/** A dialog that shows how the device connects. */
export function openAccess({ session }: Context, device: Device, title: string): void {
  let texts: Readonly<Record<string, string>> | undefined;
  const reveal = (): Promise<boolean> =>
    attempt(async () => {
      const { operator } = session;
      const { credentialsType, credentialsId } = await operator.devices.credentials(device.id.id);
      if (credentialsType !== "ACCESS_TOKEN")
        throw new Error(`The device connects by ${credentialsType}, not by an access token.`);
      const profile = await operator.profiles.get(device.deviceProfileId?.id ?? "");
      const { provisionConfiguration } = (profile.profileData ?? {}) as Record<string, unknown>;
      const { provisionDeviceSecret: secret } = (provisionConfiguration ?? {}) as Record<string, unknown>;
      const key = profile.provisionDeviceKey;
      texts = {
        "Access token": credentialsId,
        "Run a device on this computer": runCommand(credentialsId),
        ...(typeof key === "string" &&
          typeof secret === "string" && {
            [`Provisioning key of the profile ${profile.name}`]: key,
            "Provisioning secret": secret,
          }),
      };
      dialog.draw();
    });
  const dialog = openDialog(
    title,
    (close) => html`<p>
        Anyone who has the token can send data as this device. Show it only if nobody else sees the screen.
      </p>
      ${Object.entries(texts ?? {}).map(([name, text]) => html`<h3>${name}</h3><pre>${text}</pre>`)}
      <p class="buttons">
        <button ?hidden=${texts !== undefined} @click=${reveal}>Show access token</button>
        <button class="second" @click=${close}>Close</button>
      </p>`,
  );
}
