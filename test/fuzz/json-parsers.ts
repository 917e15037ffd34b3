// Parsers of texts that a peer sent.

import { decode } from "../../hosts/node/text.js";
import { parseAttributes, parseNotification } from "../../src/wire/attributes.js";
import { parseAssignment } from "../../src/wire/firmware.js";
import { checkToken } from "../../src/wire/paths.js";
import { parseProvision } from "../../src/wire/provision.js";
import { parseCallAnswer, parseRpcRequest } from "../../src/wire/rpc.js";
import { isObject, type Json, MAX_DEPTH, parseJson } from "../../src/wire/text/json.js";
import { decodeStart } from "../../src/wire/text/text.js";
import { allFixtures } from "../src/wire/support.js";
import { must, ofText, type Parser, whole } from "./parser.js";

const FIRMWARE = [
  '{"fw_title":"greenhouse","fw_version":"2.0.0","fw_tag":"greenhouse 2.0.0","fw_size":123456,"fw_checksum_algorithm":"SHA256","fw_checksum":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}',
  '{"fw_title":"greenhouse","fw_version":"2.0.0","fw_url":"https://files.example.com/2.0.0.bin"}',
  '{"fw_title":"a","fw_version":"2","fw_size":1,"fw_checksum_algorithm":"MD5","fw_checksum":"5d41402abc4b2a76b9719d911017c592"}',
];
const DOCUMENTS = [
  ...allFixtures(),
  ...FIRMWARE,
  '{"id":-1,"params":[{"id":9,"method":"x"},"\\"id\\":5"],"method":"set\\u004ced"}',
  '{"a":"x,y","__proto__":{"b":1},"c":[[[["\\u005f_proto__"]]]],"d":1.5e-7}',
  `${"[".repeat(MAX_DEPTH)}${"]".repeat(MAX_DEPTH)}`,
  `${'{"a":['.repeat(MAX_DEPTH)}1${"]}".repeat(MAX_DEPTH)}`,
  ...["null", "7", '"x"', "[]", "true"],
];

const REQUESTS = [
  '{"id":7,"method":"setLed","params":{"on":true}}',
  '{"params":[{"x":[1,"a]"]},{}],"id":-5, "method" : "reboot"}',
  '{"a":{"b":{"c":"}"}},"method":"m","z":null,"id":"12"}',
];

function depthOf(value: Json): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map((member) => depthOf(member as Json)));
}

function parsed(text: string): { value: Json } | undefined {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return undefined;
  }
}

/**
 * Against the engine's own parser: the same texts are taken but for those too deep, and nothing can
 * become a prototype.
 */
function readJson(text: string): unknown {
  const ours = parseJson(text);
  if (ours.ok) {
    const theirs = parsed(text);
    must(
      theirs !== undefined && depthOf(theirs.value) <= MAX_DEPTH,
      "what is taken is JSON, and not too deep",
    );
    must(!JSON.stringify(ours.value).includes('"__proto__":'), "no member is called __proto__");
  } else if (ours.reason === "malformed") must(parsed(text) === undefined, "what is malformed is no JSON");
  return ours;
}

/** A request keeps its id and method however much of its end is missing. */
function readRequest(text: string): unknown {
  const complete = parseRpcRequest(text, undefined);
  const cut = parseRpcRequest(text, "too-large");
  if (complete.ok && complete.problem === undefined)
    must(complete.params !== undefined, "parameters are never undefined");
  for (const request of [complete, cut]) {
    if (request.ok) must(request.id === (request.id | 0), "an id has 32 bits");
  }
  const isOnce = text.split('"id"').length === 2 && !text.includes("\\");
  if (complete.ok && cut.ok && isOnce) must(complete.id === cut.id, "the beginning has the same id");
  return [complete, cut];
}

function readAssignment(text: string): unknown {
  const value = parseJson(text);
  if (!value.ok || !isObject(value.value)) return undefined;
  const assigned = parseAssignment(value.value);
  if (assigned.kind !== "assigned") return assigned;
  const { size, url, checksum, algorithm } = assigned.assignment;
  must(
    url !== undefined || (size !== undefined && checksum !== undefined),
    "what the platform hands out has a checksum",
  );
  must(size === undefined || (size >= 1 && size < 2 ** 31), "a size is one");
  must(
    checksum === undefined || algorithm === undefined || /^[0-9a-f]+$/.test(checksum),
    "a checksum is one",
  );
  return assigned;
}

function readProvision(text: string): unknown {
  const answer = parseProvision(text);
  if (answer.kind === "success") must(checkToken(answer.token) === undefined, "a token can be used");
  if (answer.kind === "malformed") must(answer.reason.length < 250, "a reason quotes nothing");
  return answer;
}

/**
 * What a text of these bytes is, by the host's decoder: U+FFFD for each byte that begins no code
 * point.
 */
function slowly(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const one = [1, 2, 3, 4]
      .map((length) => decode(bytes.subarray(at, at + length)))
      .find((code) => code !== undefined);
    text += one ?? "\ufffd";
    at += one === undefined ? 1 : Buffer.byteLength(one);
  }
  return text;
}

/** Longer documents are not decoded slowly too. */
const SHORT = 120;

const START: Parser = {
  name: "text",
  documents: ["grün 😀 \u{10ffff}\u0800\u0080", '{"id":7,"method":"set\u00e9', `${"é".repeat(600)}`].map(
    (text) => Buffer.from(text),
  ),
  read: (pieces) => {
    const bytes = whole(pieces);
    const text = decodeStart(bytes);
    must(Buffer.byteLength(text) <= 3 * 1024 + 4, "a beginning is short");
    must(bytes.length > SHORT || text === slowly(bytes), "a text is read as the host reads it");
    return text;
  },
};

export const JSON_PARSERS: readonly Parser[] = [
  ofText("json", DOCUMENTS, readJson),
  ofText("attributes", DOCUMENTS, (text) => [parseAttributes(text), parseNotification(text)]),
  ofText("rpc", [...DOCUMENTS, ...REQUESTS], readRequest),
  ofText("call", DOCUMENTS, parseCallAnswer),
  ofText("provision", DOCUMENTS, readProvision),
  ofText("firmware", FIRMWARE, readAssignment),
  START,
];
