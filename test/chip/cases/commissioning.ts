import { officialClient } from "../../extras/commissioning/official-client.js";
import { expectedOf, visit } from "../../extras/commissioning/official-visit.js";
import { Bench, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";
import { CHIP } from "../chip.js";
import { DEVICE, TITLE, urlOf } from "../rig.js";

/** A network that is joined, and a platform that answers. */
const CHECK_MS = 90_000;

/** What a page may wait for: the radio of an emulated board is its Ethernet. */
const GIVEN = ["emulator", ""] as const;

export const IMPROV: Case = {
  name: "improv",
  title:
    "the official client of Improv finds the board on its serial line, gives it a Wi-Fi, and finds it again once it runs",
  async run({ say }) {
    await using bench = await Bench.open("improv", { bare: "but the Wi-Fi" }, "soft");
    const { board } = bench;
    const { client, received, damaged } = await officialClient((bytes) => board.send(bytes));
    board.onBytes = received;
    const visited = {
      client,
      about: `${TITLE} 1.0.0 on ${CHIP.title}, ${DEVICE}`,
      place: `${urlOf({})}/entities/devices?textSearch=${DEVICE}`,
      wifi: GIVEN,
      ...{ bootMs: ONLINE_MS, checkMs: CHECK_MS },
      running: () => bench.seen(),
    };
    board.on();
    const { lines, firstMs, slowestMs } = await visit(visited);
    for (const line of lines) say(line);
    const expected = expectedOf(visited);
    check(lines.join("\n") === expected.join("\n"), `the client was to show\n${expected.join("\n")}`);
    check(damaged.length === 0, `frames with something else in them: ${damaged.join(", ")}`);
    check(slowestMs < 1000, `answered after ${slowestMs} ms`);
    await bench.seen();
    return { bootMs: firstMs, answerMs: slowestMs };
  },
};
