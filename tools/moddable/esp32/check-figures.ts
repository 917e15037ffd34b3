// What `mote esp32 --check` says: as figures (--json), and as lines for people.
import { number, share } from "../figures.js";

export interface Share {
  readonly what: string;
  readonly bytes: number;
}

/** Bytes, where nothing else is said. */
export interface Figures {
  readonly target: string;
  readonly chip: string;
  /** Of the engine's data. `slots`: of 16 bytes each. */
  readonly rom: {
    readonly bytes: number;
    readonly slots: number;
    readonly keys: number;
    readonly code: number;
    readonly texts: number;
  };
  /** What is preloaded and not frozen may be changed: 4 bytes of RAM each. */
  readonly aliases: number;
  /** Estimated, and what a slot has. */
  readonly image: { readonly bytes: number; readonly room: number };
  /** `engine`: null without a static block; `origin`: "measured" or "computed". */
  readonly memory: {
    readonly engine: number | null;
    readonly largest: number;
    readonly heap: number;
    readonly origin: string;
  };
  /** `pool`: the system's, beside the engine's. */
  readonly planned: {
    readonly pool: number;
    readonly engine: readonly Share[];
    readonly system: readonly Share[];
  };
  /** Of a configuration that names none. */
  readonly limits: {
    readonly requestBytes: number;
    readonly answerBytes: number;
    readonly attributeBytes: number;
    readonly connections: number;
  };
  readonly unpreloaded: readonly { readonly name: string; readonly bytes: number; readonly reason: string }[];
}

export function figureLines({ rom, aliases, image, memory, unpreloaded, ...figures }: Figures): string[] {
  const { engine, largest, heap, origin } = memory;
  return [
    `ROM of the engine's data  ${number(rom.bytes)} bytes`,
    `  slots                   ${number(rom.slots)} of 16 bytes`,
    `  keys                    ${number(rom.keys)}`,
    `  code                    ${number(rom.code)} bytes`,
    `  texts                   ${number(rom.texts)} bytes`,
    `aliases in RAM            ${number(aliases)} of 4 bytes: what is preloaded and not frozen may be changed`,
    `image, estimated          ${number(image.bytes)} bytes of a slot's ${number(image.room)}: ${share(image.room - image.bytes, image.room)} free`,
    `engine's memory           ${engine === null ? "no block of its own" : `${number(engine)} bytes`} of ${number(largest)} in one piece, ${number(heap)} in all (${figures.chip}, ${origin})`,
    ...memoryLines(figures),
    `not preloaded             ${unpreloaded.length === 0 ? "nothing" : "(bytes of code; in RAM from its first import on)"}`,
    ...unpreloaded.map(({ name, bytes, reason }) => `  ${name} (${number(bytes)}): ${reason}`),
  ];
}

/** Both pools, and the limits that a configuration has which names none. */
function memoryLines({ planned, limits }: Pick<Figures, "planned" | "limits">): string[] {
  const { requestBytes, answerBytes, attributeBytes, connections } = limits;
  const list = (shares: readonly Share[]): string[] =>
    shares.map(({ what, bytes }) => `  ${what.padEnd(32)}${number(bytes).padStart(9)}`);
  return [
    "of the engine's memory, planned for",
    ...list(planned.engine),
    `of the system's ${number(planned.pool)} bytes, planned for`,
    ...list(planned.system),
    ...planned.system
      .filter(({ bytes }) => bytes < 0)
      .map(
        ({ bytes }) =>
          `  ${number(-bytes)} bytes are missing: TLS does not fit beside Wi-Fi, use http on this chip`,
      ),
    `so an RPC takes ${number(requestBytes)} bytes, its answer ${number(answerBytes)}, shared attributes ${number(attributeBytes)}; ${connections} connections`,
  ];
}
