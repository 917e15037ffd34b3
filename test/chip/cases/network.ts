import { wifiFrame } from "../../hosts/esp32/rig.js";
import { Bench, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";

const NUMBERED_MS = 500;
const AWAY_S = 90;
const STILL_MS = 60_000;
const CUT_AFTER_MS = 4000;
const WIFI_MS = 120_000;
/** No short start any more. */
const STEADY_MS = 20_000;

export const OUTAGE: Case = {
  name: "outage",
  title: "the network goes for 90 s: the board stays up, and all points of that time arrive with their times",
  async run() {
    await using bench = await Bench.open("outage", { numbered: NUMBERED_MS });
    const { board } = bench;
    const arrived = (): number[] => bench.values("n").map(Number);
    await bench.online();
    await bench.ask("unplug", { seconds: AWAY_S });
    await board.line(/Wi-Fi: not connected/, 30_000);
    const before = bench.points();
    const from = board.lines.length;
    await new Promise((go) => setTimeout(go, STILL_MS));
    check(bench.points() - before < 10, "points arrived without a network");
    await board.line(/Wi-Fi: online/, AWAY_S * 2000, from);
    const back = Date.now();
    const last = bench.accepted().at(-1)!;
    await bench.until(ONLINE_MS, "the newest point of the outage", () => arrived().includes(last));
    const seconds = Math.round((Date.now() - back) / 1000);
    const numbers = arrived().filter((n) => n <= last);
    const first = numbers[0]!;
    check(numbers.length === last - first + 1, `of ${last - first + 1} points ${numbers.length} arrived`);
    check(
      numbers.every((n, i) => n === first + i),
      "out of order by their times",
    );
    check(board.starts === 1, `it was started ${board.starts} times`);
    return { points: numbers.length, lost: 0, lastArrivedAfterSeconds: seconds };
  },
};

export const QUICK_STARTS: Case = {
  name: "quick-starts",
  title:
    "three starts that end by the power within seconds open commissioning; a Wi-Fi is taken there, and another by RPC",
  async run() {
    await using bench = await Bench.open("quick-starts", { more: { powerCycles: true } });
    const { board } = bench;
    const cut = async (): Promise<void> => {
      const from = board.lines.length;
      board.on();
      await board.line(/chip: \S+ runs|recovery mode:/, 60_000, from);
      await new Promise((go) => setTimeout(go, CUT_AFTER_MS));
      await board.off();
    };
    await cut();
    board.on();
    await bench.seen();
    check((await bench.client("moteRecovery")) === undefined, "one short start is recovery mode already");
    await new Promise((go) => setTimeout(go, STEADY_MS));
    await board.off();
    const cuts = async (): Promise<number> => {
      for (let start = 0; start < 3; start++) await cut();
      const from = board.lines.length;
      board.on();
      await board.line(/commissioning: join the Wi-Fi/, ONLINE_MS, from);
      return from;
    };
    const reads = (key: string, value: string): Promise<unknown> =>
      bench.until(WIFI_MS, `${key} ${value}`, async () => (await bench.client(key)) === value);
    const from = await cuts();
    const { credentialsId: token } = await bench.tenant.devices.credentials(await bench.needId());
    // The same Wi-Fi: over http another one would need the token too.
    board.send(wifiFrame("emulator", ""));
    await board.line(/runs, reset/, WIFI_MS, from);
    await bench.seen();
    await bench.ask("mote.wifi", { ssid: "a third", token });
    await reads("moteWifi", "kept");
    return { moteWifi: String(await bench.client("moteWifi")) };
  },
};
