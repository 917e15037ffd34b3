// Claiming: who owns the device. A claim needs the customer's login, which is not kept.
import { Operator } from "../../operator/operator.js";
import { ask, attempt, button, field, form, h, section, showToast } from "../dom.js";
import { endAll, type Part, type Place, unlessGone } from "../page.js";

const NO_CUSTOMER = "13814000-1dd2-11b2-8080-808080808080";

export function claimingPart({ session, device }: Place): Part {
  const owner = h("p", {});
  const place = h("div", {});
  const look = async (): Promise<void> => {
    const { customerId } = await session.operator.devices.get(device.id.id);
    const owned = customerId?.id !== undefined && customerId.id !== NO_CUSTOMER;
    owner.textContent = owned ? "A customer owns this device." : "No customer owns this device.";
    const takeBack = button("Take back", async () => {
      const text = "The customer loses the device and has to claim it again.";
      if (!(await ask("Take the device back?", text, "Take back"))) return;
      await attempt(() => session.operator.devices.reclaim(device.name));
    });
    place.replaceChildren(owned ? takeBack : claimForm(device.name));
  };
  const read = (): void => void look().catch(unlessGone);
  read();
  const ends = [
    session.on("device", ({ deviceId }) => deviceId === device.id.id && read()),
    session.on("line", ({ up }) => up && read()),
  ];
  return {
    element: section("Claiming", "card", owner, place),
    end: endAll(...ends),
  };
}

function claimForm(deviceName: string): HTMLElement {
  const username = h("input", {
    type: "email",
    autocomplete: "off",
    required: true,
    placeholder: "customer@thingsboard.org",
  });
  const password = h("input", { type: "password", autocomplete: "off", required: true });
  const secret = h("input", { type: "password", autocomplete: "off", required: true });
  const claim = async (): Promise<void> => {
    const customer = new Operator({ url: location.origin });
    await customer.login(username.value, password.value);
    await customer.devices.claim(deviceName, secret.value);
    showToast(`Claimed ${deviceName}.`);
  };
  return form(
    { label: "Claim as a customer" },
    () => {
      void attempt(claim);
    },
    field("Customer", username),
    field("Password", password),
    field("Claiming secret", secret),
    h("button", { type: "submit" }, "Claim"),
  );
}
