// What strangers can send while a device is commissioned: requests, forms, certificates, questions
// for names.

import { readAuthorities } from "../../extras/commissioning/authorities.js";
import { answerDns } from "../../extras/commissioning/dns.js";
import { readForm } from "../../extras/commissioning/form.js";
import { Improv } from "../../extras/commissioning/improv.js";
import { FrameReader, writeFrame } from "../../extras/commissioning/improv-frames.js";
import { RequestReader } from "../../extras/commissioning/request.js";
import { FIELDS } from "../../extras/commissioning/values.js";
import { decode, encode } from "../../hosts/node/text.js";
import { must, ofText, type Parser, whole } from "./parser.js";

const FORM =
  "proof=0123456789abcdef&ssid=My+home&password=p%C3%A4ss%2B&url=https%3A%2F%2Fplatform.example.com&ca=&token=";
const REQUESTS = [
  `POST / HTTP/1.1\r\nHost: 192.168.4.1\r\nOrigin: http://192.168.4.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${FORM.length}\r\n\r\n${FORM}`,
  "GET /generate_204?a=b HTTP/1.1\r\nHost: connectivitycheck.gstatic.com\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\n\r\n",
  "HEAD / HTTP/1.0\r\nhost: [::1]:8080\r\nsec-fetch-site: none\r\n\r\n",
];

const REQUEST: Parser = {
  name: "page-request",
  documents: REQUESTS.map((text) => Buffer.from(text)),
  incremental: true,
  read: (pieces) => {
    const reader = new RequestReader({ decode });
    for (const piece of pieces) reader.feed(piece);
    const { request, problem } = reader;
    must(request === undefined || problem === 0, "what was read has no problem");
    must(problem === 0 || (problem >= 400 && problem <= 501), "a problem is a status");
    if (!request) return problem;
    must(request.body.length <= 12_288 && request.path.length <= 1024, "all of it is bounded");
    must(/^\/[!-~]*$/.test(request.path) && !/[?\s]/.test(request.path), "a path is one");
    must(/^[a-z0-9.:[\]_-]+$/.test(request.host), "a host is one, in lower case");
    return request;
  },
};

const IMPROV: Parser = {
  name: "improv",
  documents: [
    writeFrame(3, [1, 13, 4, ...Buffer.from("home"), 7, ...Buffer.from("correct")]),
    Buffer.concat([
      Buffer.from("show\n"),
      writeFrame(3, [2, 0]),
      writeFrame(3, [3, 0]),
      writeFrame(3, [4, 0]),
    ]),
  ],
  incremental: true,
  read: (pieces) => {
    const said: unknown[] = [];
    const options = { host: { encode, decode }, info: ["f", "1", "c", "n"], url: () => "http://p" } as const;
    const improv = new Improv({ ...options, write: (bytes) => said.push([...bytes]) });
    const reader = new FrameReader({ now: () => 0 }, (kind, data) => {
      must((data?.length ?? 0) <= 255, "a frame is bounded");
      improv.frame(kind, data);
    });
    for (const piece of pieces) reader.feed(piece);
    return said;
  },
};

const QUESTION = Buffer.concat([
  Buffer.from([1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 7]),
  Buffer.from("captive\u0005apple\u0003com\u0000\u0000\u0001\u0000\u0001", "latin1"),
]);
const DNS: Parser = {
  name: "dns",
  documents: [QUESTION],
  read: (pieces) => {
    const packet = whole(pieces);
    const answer = answerDns(packet, [192, 168, 4, 1]);
    if (!answer) return undefined;
    must(answer.length <= packet.length + 16, "an answer is its question and one record");
    must(((answer[2] as number) & 0x80) !== 0 && ((packet[2] as number) & 0x80) === 0, "answers are answers");
    return Buffer.from(answer).toString("hex");
  },
};

function form(text: string): unknown {
  const values = readForm(text, FIELDS);
  for (const name of Object.keys(values ?? {})) must(FIELDS.includes(name as never), "a form has its fields");
  return values;
}

function authorities(text: string): unknown {
  const found = readAuthorities(text);
  must(typeof found !== "string" || (found.length < 200 && !/MII/.test(found)), "a reason quotes nothing");
  must(typeof found === "string" || found.join("").length <= 3000, "certificates are bounded");
  return found;
}

const DER = `MIGC${"A".repeat(172)}`.slice(0, 180);
const PEM = `-----BEGIN CERTIFICATE-----\n${DER.slice(0, 64)}\n${DER.slice(64)}\n-----END CERTIFICATE-----\n`;

export const COMMISSION_PARSERS: readonly Parser[] = [
  REQUEST,
  IMPROV,
  DNS,
  ofText("page-form", [FORM], form),
  ofText("page-authorities", [PEM, DER, PEM + PEM], authorities),
];
