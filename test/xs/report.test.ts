// The report client on the XS engine: the same answers as on Node, in the memory of one row.
import { FakeClock, settle } from "../fakes/clock.js";
import { fakeHost } from "../fakes/host.js";
import { FakeNet } from "../fakes/net.js";
import { type SeenRequest, serve } from "../fakes/server.js";
import { jwt, VIEW } from "../src/report/rig.js";
import { Bridge } from "./engine/bridge.js";
import { testOnXs } from "./engine/on-xs.js";

const ENTRY = `import * as report from "./src/report/index.ts";
  const session = new report.Session(host, { url: "http://platform.test", username: "me", password: "pa55w0rd" });
  globalThis.reports = new report.Reports(host, { url: "http://platform.test", session });
  globalThis.seen = { rows: 0, sum: 0, dates: 0, end: "" };
  globalThis.build = (request) => reports.build(request, {
    labels: (labels) => { seen.labels = labels.length; },
    row: (row) => { seen.rows++; seen.sum += row.Average; seen.dates += Number(row.Date) - 1760000000000; },
  }).then((end) => { seen.end = end.rows + " rows"; }, (error) => { seen.end = error.code + ": " + error.message; });`;
const ROWS = 10_000;
/** Bytes of a slot on an ESP32. */
const SLOT = 16;
const PIECES = 40;

const row = (i: number): string =>
  `{"Device":"greenhouse-${i % 7}","Building":"Bau \\"${i % 3}\\" ü","Date":"${1_760_000_000_000 + i}","Average":${i / 4}}`;

async function begin(answer: (request: SeenRequest) => void) {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const net = new FakeNet(clock, { segmentBytes: 1460 });
  const host = fakeHost({ clock, network: net });
  serve(net, (request) => {
    if (request.path.includes("/api/auth/")) request.reply(200, { token: jwt("me"), refreshToken: jwt("r") });
    else answer(request);
  });
  const bridge = await Bridge.start(host, { entry: ENTRY });
  clock.settled = async () => {
    await settle();
    await bridge.idle();
  };
  return { clock, bridge };
}

testOnXs(
  `a report of ${ROWS} rows takes less than 16 KiB on XS at any time, slots and chunks, and leaves nothing behind`,
  async (t) => {
    let asked: SeenRequest | undefined;
    const { clock, bridge } = await begin((request) => {
      asked = request;
    });
    const start = async (): Promise<SeenRequest> => {
      asked = undefined;
      await bridge.run(`build({ viewConfigId: "${VIEW}" }); undefined`);
      await clock.runUntil(() => asked !== undefined);
      asked!.peer.send(
        'HTTP/1.1 200\r\n\r\n{"columnLabels":["Device","Building","Date","Average"],"dataTable":[',
      );
      return asked!;
    };
    // The first report logs in, and makes what lasts.
    const first = await start();
    first.peer.send(`${row(0)}]}`);
    first.peer.end();
    await clock.advance(1000);
    const [before, chunksBefore] = [await bridge.slots(), await bridge.chunks()];
    const { peer } = await start();
    const slots: number[] = [];
    const chunks: number[] = [];
    // Each piece ends within a row.
    let rest = "";
    for (let piece = 0; piece < PIECES; piece++) {
      const many = ROWS / PIECES;
      const text = rest + Array.from({ length: many }, (_, i) => `${row(piece * many + i)},`).join("");
      peer.send(text.slice(0, -20));
      rest = text.slice(-20);
      await clock.advance(100);
      slots.push(await bridge.slots());
      if (piece % 10 === 9) chunks.push(await bridge.chunks());
    }
    peer.send(`${rest}${row(ROWS)}]}`);
    peer.end();
    await clock.advance(1000);
    const seen = (await bridge.run("seen")) as Record<string, unknown>;
    t.is(seen.rows, ROWS + 2);
    t.is(seen.end, `${ROWS + 1} rows`);
    t.is(seen.sum, (ROWS * (ROWS + 1)) / 2 / 4);
    t.is(seen.dates, (ROWS * (ROWS + 1)) / 2);
    const growth = Math.max(...slots) - before;
    const grown = Math.max(...chunks) - chunksBefore;
    t.log(`${growth} slots, ${growth * SLOT} bytes, and ${grown} bytes of chunks while it runs`);
    t.true(growth > 0 && grown > 0 && growth * SLOT + grown < 16_384, `${growth} slots, ${grown}`);
    t.deepEqual(chunks, Array(chunks.length).fill(chunks[0]));
    // As many after the last piece as after the first, but for the run at the start.
    t.true(Math.max(...slots) - slots[0]! <= 2, slots.join(" "));
    // Each run of a script keeps one.
    t.true((await bridge.slots()) - before <= 4);
    t.true((await bridge.chunks()) - chunksBefore <= 64, "chunks");
    await bridge.close();
  },
);

testOnXs("what is no report, and what drops, is reported on XS as on Node", async (t) => {
  const answers: [string, string][] = [
    ["<html>", "MALFORMED: report: the answer is no report, or breaks off (row 1)"],
    [
      '{"columnLabels":[],"dataTable":[{"a":1e999}]}',
      "MALFORMED: report: the answer is no report, or breaks off (row 1)",
    ],
    [
      '{"columnLabels":[],"dataTable":[{"a":"\\ud83d\\ude00"},{"a":[]}]}',
      "MALFORMED: report: the answer is no report, or breaks off (row 2)",
    ],
    [
      `{"columnLabels":[],"dataTable":[{"a":"${"x".repeat(20_000)}"}]}`,
      "TOO_LARGE: report: row 1, or the list of labels, is larger than allowed",
    ],
    ['{"dataTable":[{"Average":1,"Date":"1760000000000"}],"columnLabels":["a"]}', "1 rows"],
  ];
  let at = 0;
  const { clock, bridge } = await begin(({ peer }) => {
    peer.send(`HTTP/1.1 200\r\n\r\n${answers[at]?.[0] ?? ""}`);
    peer.end();
  });
  for (const [body, expected] of answers) {
    await bridge.run(`seen.end = ""; build({ viewConfigId: "${VIEW}" }); undefined`);
    await clock.advance(5000);
    t.is(((await bridge.run("seen")) as { end: string }).end, expected, body.slice(0, 50));
    at++;
  }
  await bridge.close();
});
