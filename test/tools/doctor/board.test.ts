import test from "ava";
import {
  type BoardSite,
  type Cable,
  checkBoard,
  type DeviceView,
} from "../../../tools/doctor/board/checks.js";
import { boardReport } from "../../../tools/doctor/board/report.js";
import type { Finding } from "../../../tools/doctor/finding.js";

/** A board that comes online 2 s after each reset, and counts its starts; `silent`: it prints something else. */
class FakeSite implements BoardSite {
  now = (): number => this.#at;
  readonly lines: string[] = [];
  starts = 7;
  readonly cable: Cable;
  readonly device: DeviceView = {
    latest: async (keys) =>
      keys
        ? { fw_state: { ts: 1, value: "UPDATED" }, current_fw_version: { ts: 1, value: "2.0.0" } }
        : { temperature: { ts: Math.floor(this.#at / 1000), value: 20 } },
    attributes: async () => ({ starts: this.starts }),
    call: async () => {
      this.#at += 300;
      return {};
    },
  };
  #at = 0;
  #due: number | undefined;

  constructor(silent = false) {
    this.cable = {
      lines: this.lines,
      identify: async () => ({ chip: "esp32", mac: "24:0a:c4:00:01:02", flashBytes: 4 << 20 }),
      restart: async () => {
        this.#due = this.#at + 2000;
      },
    };
    this.pause = async (ms) => {
      this.#at += ms;
      if (this.#due === undefined || this.#at < this.#due) return;
      this.#due = undefined;
      this.starts++;
      this.lines.push(silent ? "info: Wi-Fi: no network home" : "info: Wi-Fi: online");
    };
  }

  pause: (ms: number) => Promise<void>;

  built(chip: string): string | undefined {
    return `sample 1.0.0 for ${chip}`;
  }
}

async function findings(site: BoardSite): Promise<Finding[]> {
  const all: Finding[] = [];
  await checkBoard(site, (finding) => all.push(finding));
  return all;
}

test("a board that keeps its promises passes all ten checks, in their order", async (t) => {
  const site = Object.assign(new FakeSite(), { ask: async () => "yes" as const });
  const all = await findings(site);
  t.deepEqual(
    all.map(({ what }) => Number.parseInt(what, 10) || what),
    ["board", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
  t.deepEqual(
    all.filter(({ level }) => level !== "good"),
    [],
  );
  t.is(all.find(({ what }) => what === "2 start")?.text, "online 2 s after a reset");
  t.is(all.find(({ what }) => what === "5 RPC")?.text, "getStatus was answered in 300 ms");
});

test("without a terminal, skips visual checks and does not count resets as power losses", async (t) => {
  const all = await findings(new FakeSite());
  const level = (number: string) => all.find(({ what }) => what.startsWith(number))?.level;
  for (const number of ["3", "7", "9", "10"]) t.is(level(number), "skipped", number);
  t.is(
    all.find(({ what }) => what === "6 power")?.text,
    "3 resets over the cable, each counted; its power was not cut",
  );
});

test("a board that does not come online, or loses a start, fails that check", async (t) => {
  const level = async (site: BoardSite, number: string) =>
    (await findings(site)).find(({ what }) => what.startsWith(number))?.level;
  t.is(await level(new FakeSite(true), "2"), "bad");
  const site = new FakeSite();
  const device: DeviceView = { ...site.device, attributes: async () => ({ starts: 7 }) };
  t.is(await level(Object.assign(site, { device }), "6"), "bad");
});

test("a report shows no secret in any form, and no name, address or hardware id", (t) => {
  const token = "A1_TEST_TOKEN-xyz7Q";
  const password = "correct horse battery";
  const lines = [
    `info: token ${token}`,
    `info: GET /api/v1/${encodeURIComponent(token)}/rpc`,
    `debug: ${Buffer.from(`token=${token}`).toString("base64")}`,
    `warn: no access point "Attic-Net" takes ${password}`,
    "info: https://iot.example.com:8443/api answered 502 at 192.168.17.4",
    "info: mote-240ac4000102, MAC 24:0a:c4:00:01:02, somebody@example.com",
    "info: Wi-Fi: online",
  ];
  const finding: Finding = { level: "bad", what: "5 RPC", text: `greenhouse-7 | ${token}`, advice: "x" };
  const text = boardReport(
    { about: [["machine", "linux, /home/ada"]], findings: [finding], lines },
    [token, password],
    ["greenhouse-7", "Attic-Net", "/home/ada"],
  );
  for (const hidden of [
    token,
    encodeURIComponent(token),
    "correct horse",
    "Attic",
    "greenhouse-7",
    "/home/ada",
  ])
    t.false(text.includes(hidden), hidden);
  for (const hidden of [
    /iot\.example/,
    /192\.168/,
    /240ac4/i,
    /24:0a/i,
    /somebody/,
    /QTFfVEVT|FfVEVTVF|X1RFU1Rf/,
  ])
    t.notRegex(text, hidden);
  t.regex(text, /info: Wi-Fi: online/);
  t.regex(text, /\| 5 RPC \| bad \| \(name\) \\\| \*\*\*\. x \|/);
});
