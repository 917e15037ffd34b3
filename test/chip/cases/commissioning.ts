import { officialClient } from "../../hosts/shared/commissioning/official-client.js";
import { Bench, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";
import { authority, DEVICE, PROFILE, urlOf } from "../rig.js";

/** A network that is joined, and a platform that answers. */
const CHECK_MS = 90_000;
/** Of Improv. */
const [READY, PROVISIONED] = [2, 4];

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
    const place = `${urlOf({})}/entities/devices?textSearch=${DEVICE}`;
    try {
      const { client, received } = await officialClient((bytes) => board.send(bytes));
      board.onBytes = received;
      const began = Date.now();
      board.on();
      await client.initialize(ONLINE_MS);
      const bootMs = Date.now() - began;
      say(JSON.stringify(client.info));
      check(client.state === READY, `state ${client.state}`);
      check(
        client.info?.chipFamily === "ESP32-C3" && client.info.name === DEVICE,
        JSON.stringify(client.info),
      );
      const asked = Date.now();
      await client.requestCurrentState();
      const answerMs = Date.now() - asked;
      check(answerMs < 1000, `answered after ${answerMs} ms`);
      const host = await client.getHostname().catch((error) => error);
      check(host === "UNKNOWN_RPC_COMMAND", `a command that nobody knows: ${host}`);
      await client.provision(...GIVEN, CHECK_MS);
      check(client.nextUrl === place, `led to ${client.nextUrl}`);
      await bench.seen();
      await client.requestCurrentState();
      check(client.state === PROVISIONED && client.nextUrl === place, `${client.state} ${client.nextUrl}`);
      const again = await client.provision("another", "password", CHECK_MS).catch((error) => error);
      check(again === "UNKNOWN_ERROR", `a board that runs took another Wi-Fi: ${again}`);
      await bench.seen();
      await client.close();
      return { bootMs, answerMs };
    } finally {
      await bench.close();
    }
  },
};
