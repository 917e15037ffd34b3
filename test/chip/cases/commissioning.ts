import { officialClient } from "../../hosts/shared/commissioning/official-client.js";
import { expectedOf, visit } from "../../hosts/shared/commissioning/official-visit.js";
import { Bench, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";
import { authority, DEVICE, PROFILE, TITLE, urlOf } from "../rig.js";

/** A network that is joined, and a platform that answers. */
const CHECK_MS = 90_000;

export const CABLE: Case = {
  name: "cable",
  title:
    "its owner commissions the board over its serial line: mistakes are named, then it provisions and sends",
  async run() {
    const bench = await Bench.open("cable", { bare: true }, "soft");
    const { board } = bench;
    const say = (text: string, expected: RegExp, ms = 20_000): Promise<string> => {
      const from = board.lines.length;
      board.type(text);
      return board.line(expected, ms, from);
    };
    try {
      board.on();
      await board.line(/commissioning: join the Wi-Fi/, ONLINE_MS);
      await say("help", /set wifi SSID/);
      await say("set everything", /help lists/);
      await say("set ca", /paste the certificate/);
      const pem = authority().ca.trim().split("\n");
      for (const [i, line] of pem.slice(0, -1).entries()) await say(line, new RegExp(`^${i + 1}$`));
      await say(pem.at(-1)!, /network|Wi-Fi/);
      await say("show", /certificate set/);
      await say("set wifi emulator", /address is a text/);
      await say(`set provisioning ${PROFILE.key} wrong-secret`, /address is a text/);
      const refused = await say(`set url ${urlOf({})}`, /key|secret|provision/i, CHECK_MS);
      await say(`set provisioning ${PROFILE.key} ${PROFILE.secret}`, /connected, and kept/, CHECK_MS);
      await bench.seen();
      check(!board.lines.some((line) => line.includes(PROFILE.secret)), "a secret was shown");
      await board.off();
      board.on();
      await bench.seen();
      return { refused };
    } finally {
      await bench.close();
    }
  },
};

/** What a page may wait for: the radio of an emulated board is its Ethernet. */
const GIVEN = ["emulator", ""] as const;

export const IMPROV: Case = {
  name: "improv",
  title:
    "the official client of Improv finds the board on its serial line, gives it a Wi-Fi, and finds it again once it runs",
  async run({ say }) {
    const bench = await Bench.open("improv", { bare: "but the Wi-Fi" }, "soft");
    const { board } = bench;
    const { client, received, damaged } = await officialClient((bytes) => board.send(bytes));
    board.onBytes = received;
    const visited = {
      client,
      about: `${TITLE} 1.0.0 on ESP32-C3, ${DEVICE}`,
      place: `${urlOf({})}/entities/devices?textSearch=${DEVICE}`,
      wifi: GIVEN,
      ...{ bootMs: ONLINE_MS, checkMs: CHECK_MS },
      running: () => bench.seen(),
    };
    try {
      board.on();
      const { lines, firstMs, slowestMs } = await visit(visited);
      for (const line of lines) say(line);
      const expected = expectedOf(visited);
      check(lines.join("\n") === expected.join("\n"), `the client was to show\n${expected.join("\n")}`);
      check(damaged.length === 0, `frames with something else in them: ${damaged.join(", ")}`);
      check(slowestMs < 1000, `answered after ${slowestMs} ms`);
      await bench.seen();
      return { bootMs: firstMs, answerMs: slowestMs };
    } finally {
      await bench.close();
    }
  },
};
