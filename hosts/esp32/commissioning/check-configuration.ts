// Validates the whole `config` of a project's manifest without starting anything, in builds and on
// boards.
import {
  type Config,
  isIncomplete,
  membersOf,
} from "../../../extras/commissioning/built-in-configuration.js";
import { checkNetwork } from "../../../extras/commissioning/values.js";
import { refusePin } from "./pins.js";

/** `config.commission`: how the owner enters settings that are not built in. */
export interface Commission {
  /**
   * Pin of a button that pulls it to ground. Held for 1 s at power-on, it opens commissioning
   * again. Held for 10 s while the board runs, it resets the device. A sleeping board starts
   * counting when it wakes.
   */
  readonly button?: number | undefined;
  /**
   * Password of the access point `mote-<hardware id>`, the same for all devices with this image.
   * Default: none. The setup page sets a device's own.
   */
  readonly password?: string | undefined;
  /** Pins of the serial line. Default: the chip's first; false: none. */
  readonly serial?: false | { readonly receive: number; readonly transmit: number } | undefined;
}

/** The problem of `config.commission` on a chip (CONFIG_IDF_FIRMWARE_CHIP_ID). */
export const checkCommission = (value: unknown, chip: number): string | undefined => {
  const { button, password, serial } = membersOf<Commission>(value);
  if (value !== undefined && (typeof value !== "object" || value === null))
    return "config.commission is an object";
  if (button !== undefined && !isPin(button)) return "config.commission.button is the number of a pin";
  const why = button === undefined ? undefined : refusePin(chip, button, serial !== false);
  if (why !== undefined) return `config.commission.button: pin ${button} ${why}`;
  if (password !== undefined && (password === "" || password.length > 63 || checkNetwork("any", password)))
    return "config.commission.password has 8 to 63 bytes";
  if (serial !== undefined && serial !== false && !(isPin(serial?.receive) && isPin(serial?.transmit)))
    return "config.commission.serial is { receive, transmit }, two pins, or false";
  return undefined;
};

/** `config` with placeholders for the owner's settings: the rest must be valid without them. */
export const asIfGiven = (config: Config): Config => {
  if (!isIncomplete(config)) return config;
  const { ssid } = membersOf<{ ssid: unknown }>(config.wifi);
  const { key } = membersOf<{ key: unknown }>(config.provisioning);
  return {
    ...config,
    ...((config.wifi === undefined || ssid === "") && { wifi: { ssid: "any" } }),
    ...(!config.baseUrl && { baseUrl: "http://any" }),
    ...(!config.token && !key && { token: "any", provisioning: undefined }),
  };
};

const isPin = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
