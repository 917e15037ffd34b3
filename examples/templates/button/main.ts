import { ButtonPin } from "button-pin";
import { type Application, start } from "mote/board";
import { commission } from "mote/commission";

/** A contact bounces for a few milliseconds: wait until it is quiet. */
const DEBOUNCE_MS = 30;

const application: Application = (agent, host) => {
  let wasPressed = false;
  let presses = 0;
  let cancel = (): void => {};

  const settle = (): void => {
    const { isPressed } = button;
    if (isPressed === wasPressed) return;
    wasPressed = isPressed;
    if (isPressed) presses++;
    agent.telemetry.record({ pressed: isPressed, presses });
    host.log("info", isPressed ? "pressed" : "released");
  };
  const button = new ButtonPin(() => {
    cancel();
    cancel = host.clock.timer(DEBOUNCE_MS, settle);
  });
  agent.telemetry.record({ pressed: false, presses });
};

export default function main(): void {
  start({ application, extras: [commission] });
}
