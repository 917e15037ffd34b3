import { membersOf } from "../../../extras/commissioning/built-in-configuration.js";
import type { ImprovOptions } from "../../../extras/commissioning/improv.js";
import type { Values } from "../../../extras/commissioning/values.js";
import type { BoardHardware } from "../board-hardware.js";
import type { BoardHost } from "../host.js";
import { chipName } from "./pins.js";
import type { WifiFunctions } from "./sdk-modules.js";

/**
 * What a board reports through Improv, and the page of its platform: the device list, searched for
 * its name.
 */
export const aboutBoard = (
  { config, idf }: BoardHardware,
  host: BoardHost,
  deviceName: string | undefined,
  platform: () => Pick<Values, "url" | "token">,
): Pick<ImprovOptions, "host" | "info" | "url"> => {
  const { title = "mote", version = "" } = membersOf<{ title: string; version: string }>(config.firmware);
  const name = deviceName ?? `mote-${host.hardwareId}`;
  const chip = chipName((idf as unknown as WifiFunctions).mote_chip());
  return {
    host,
    info: [title, version, chip, name],
    url: () => {
      const { url, token } = platform();
      // For a given token, only the platform knows the device's name.
      const search = token === undefined ? `?textSearch=${encodeURIComponent(name)}` : "";
      if (!url) return "";
      return `${url.endsWith("/") ? url.slice(0, -1) : url}/entities/devices${search}`;
    },
  };
};
