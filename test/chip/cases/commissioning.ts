import { rmSync } from "node:fs";
import { officialClient } from "../../extras/commissioning/official-client.js";
import { expectedOf, visit } from "../../extras/commissioning/official-visit.js";
import { wifiFrame } from "../../hosts/esp32/rig.js";
import { Dice } from "../../simulation/dice.js";
import { Bench, imageOf, ONLINE_MS } from "../bench.js";
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

/** From the last value that it is given: it joins, provisions itself, stores, restarts. */
const COMMISSIONED_MS = 8000;

/** The Wi-Fi, by Improv: with it the board has all that it needs, and begins the check. */
const give = ({ board }: Bench): void => board.send(wifiFrame(...GIVEN));

export const COMMISSIONING_POWER_LOSS: Case = {
  name: "commissioning-power-loss",
  title:
    "power losses while its owner commissions it: it is commissioned or asks again, and is online in the end",
  async run({ seed, quick, say }) {
    const dice = new Dice(seed);
    const settings = { bare: "but the Wi-Fi" } as const;
    const losses = quick ? 4 : 15;
    await using bench = await Bench.open("commissioning-power-loss", settings, "soft");
    const { board, tenant } = bench;
    const image = await imageOf(settings);
    let askedAgain = 0;
    for (let n = 1; n <= losses; n++) {
      await board.off();
      const id = await bench.id();
      if (id !== undefined) await tenant.devices.delete(id);
      rmSync(board.flash, { force: true });
      board.write(image);
      const start = async (): Promise<boolean> => {
        const from = board.lines.length;
        board.on();
        return (await board.line(/commissioning: join the Wi-Fi|runs, reset/, ONLINE_MS, from)).includes(
          "join",
        );
      };
      check(await start(), "a new board did not ask");
      give(bench);
      const ms = dice.below(COMMISSIONED_MS);
      await new Promise((go) => setTimeout(go, ms));
      await board.off();
      const asks = await start();
      say(`power loss ${n} of ${losses}, after ${ms} ms: it ${asks ? "asks again" : "is commissioned"}`);
      if (asks) {
        askedAgain++;
        give(bench);
      }
      await bench.seen();
    }
    return { losses, askedAgain };
  },
};
