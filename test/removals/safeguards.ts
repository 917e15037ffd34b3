// Deliberate breaks of each design, and the quick test that must fail. Edits are found by their
// text, so that a change of the code shows that a break is out of date.

/** Text that is once in a file, and what stands in its place without the safeguard. */
export interface Edit {
  readonly from: string;
  readonly to: string;
}

export interface Safeguard extends Edit {
  readonly what: string;
  readonly file: string;
  /** Another edit of the file. */
  readonly and?: Edit;
  readonly test: string;
  /** Of the test, with `*` for any text. */
  readonly title: string;
}

export const editsOf = ({ from, to, and }: Pick<Safeguard, "from" | "to" | "and">): Edit[] => [
  { from, to },
  ...(and ? [and] : []),
];

const FIRMWARE = "src/agent/firmware";
const WRITER = `${FIRMWARE}/download/image-writer.ts`;
const DOWNLOAD = `${FIRMWARE}/download/download.ts`;
const VERIFY = `${FIRMWARE}/download/verify.ts`;
const DECIDE = `${FIRMWARE}/decide.ts`;
const TRIAL = `${FIRMWARE}/trial.ts`;
const ADMISSION = `${FIRMWARE}/admission.ts`;
const UPDATES = "test/src/agent/firmware/updates/updates.test.ts";
const HOSTILE = "test/src/agent/firmware/updates/hostile.test.ts";
const WRITES = "test/src/agent/firmware/image-writer.test.ts";
const REPORTED = "test/src/agent/firmware/updates/reported.test.ts";

export const safeguards: Readonly<Record<string, readonly Safeguard[]>> = {
  assignment: [
    {
      what: "an assignment that is not the journal's must stay for a while",
      file: DECIDE,
      from: "    if (ms > 0) return",
      to: "    if (ms > 9e9) return",
      test: UPDATES,
      title: "an assignment counts only when it was read twice*",
    },
    {
      what: "an image without a signature is refused where a key is configured",
      file: ADMISSION,
      from: '  if (options.publicKey !== undefined && !(key && signature)) return failed("no signature");\n',
      to: "",
      test: HOSTILE,
      title: "an image without a signature is refused before a byte is fetched (2 connections)",
    },
    {
      what: "an image comes over http only if it is allowed or signed",
      file: ADMISSION,
      from: "    !target.secure && !isLoopback(target)",
      to: "    target.port < 0 && !isLoopback(target)",
      test: HOSTILE,
      title: "fw_url, over http: FAILED (2 connections)",
    },
    {
      what: "a file comes only from a host that is named",
      file: ADMISSION,
      from: '  if (!options.urlHosts?.includes(target.authority)) return failed("host not in urlHosts", target.authority);\n',
      to: "",
      test: HOSTILE,
      title: "fw_url, a host that is not listed: FAILED (2 connections)",
    },
    {
      what: "a version below the minimum is refused",
      file: ADMISSION,
      from: "!isAtLeast(version, minimumVersion)",
      to: '!isAtLeast(version, "0")',
      test: UPDATES,
      title: "a clock that is set back by a year*",
    },
  ],
  download: [
    {
      what: "a download resumes where a restart left it",
      file: DOWNLOAD,
      from: "isResumed ? record.offset : 0;",
      to: "isResumed && record.offset < 0 ? record.offset : 0;",
      test: UPDATES,
      title: "after stop() and start() in the middle of a download every part comes whole",
    },
    {
      what: "bytes of another version of a file are not mixed",
      file: DOWNLOAD,
      from: "    else if (offset > 0 ? !isSame : !isWhole && file.from !== 0) {",
      to: "    else if (offset > 0 ? isSame && total === -1 : !isWhole && file.from !== 0) {",
      test: HOSTILE,
      title: "a file that was replaced midway*(2 connections)",
    },
    {
      what: "a file without an ETag whose checksum is wrong is fetched anew",
      file: `${FIRMWARE}/firmware.ts`,
      from: 'etag === "" && !this._isSecondTry',
      to: 'etag === "" && this._isSecondTry',
      test: HOSTILE,
      title: "a file without an ETag that changes midway*(2 connections)",
    },
    {
      what: "a redirect leads only to a listed host",
      file: `${FIRMWARE}/download/file.ts`,
      from: "    if (problem) return `",
      to: "    if (problem && from.port < 0) return `",
      test: HOSTILE,
      title: "fw_url, a redirect to a host that is not listed*(2 connections)",
    },
  ],
  verification: [
    {
      what: "the checksum of the bytes in the slot is compared",
      file: VERIFY,
      from: "  if (!sameChecksum(found, checksum))",
      to: "  if (sameChecksum(found, checksum) && size < 0)",
      test: REPORTED,
      title: "a wrong checksum: FAILED*(2 connections)",
    },
    {
      what: "the signature is verified",
      file: VERIFY,
      from: "  const isRight = hash && (await",
      to: "  const isRight = hash || (await",
      test: HOSTILE,
      title: "an image that somebody else signed gets no header (SHA256) (2 connections)",
    },
    {
      what: "the slot is read again, header and all, before it is activated",
      file: `${FIRMWARE}/firmware.ts`,
      from: "    const problem = await problemInSlot(this._host, image);\n",
      to: "    const problem = image.size < 0 && (await problemInSlot(this._host, image));\n",
      test: HOSTILE,
      title: "a slot that does not keep what was written*(2 connections)",
    },
    {
      what: "an image that was verified before a restart is verified again",
      file: `${FIRMWARE}/firmware.ts`,
      from: '      slot.erase(0);\n      return this._fail(failed("slot changed"));\n',
      to: "",
      test: UPDATES,
      title: "a verified image is read back again*",
    },
  ],
  "header order": [
    {
      what: "the header of the old image is erased before anything is written",
      file: WRITER,
      from: "if (inSector === 0 && !slot.erase(at))",
      to: "if (inSector === 0 && at > 0 && !slot.erase(at))",
      test: WRITES,
      title: "erases a sector before*",
    },
    {
      what: "the header is written after the checksum was verified",
      file: WRITER,
      from: "      if (isHead) head.set(piece, at);\n      else if",
      to: "      if (isHead) head.set(piece, at);\n      if",
      test: WRITES,
      title: "reads the last byte, writes the header*",
    },
    {
      what: "the image is durable before its header",
      file: WRITER,
      from: "  return slot.read(size - 1, byte) && slot.write(0, head)",
      to: "  return slot.write(0, head)",
      test: WRITES,
      title: "writes no header if the read before it fails",
    },
  ],
  trial: [
    {
      what: "an image is confirmed only after it reached the platform",
      file: TRIAL,
      from: "(await this._untilReached()) ?? (await this._testItself())",
      to: "(await this._testItself())",
      test: REPORTED,
      title: "an image that the platform never accepts*(2 connections)",
    },
    {
      what: "an image is confirmed only after its self-test",
      file: TRIAL,
      from: "(await this._untilReached()) ?? (await this._testItself())",
      to: "(await this._untilReached())",
      test: REPORTED,
      title: "a self test that answers false*(2 connections)",
    },
    {
      what: "a trial lasts at least trialMs",
      file: TRIAL,
      from: "clock.now() < until)",
      to: "clock.now() < 0)",
      test: REPORTED,
      title: "an image that crashes after 20 s is not confirmed (2 connections)",
    },
  ],
  confirmation: [
    {
      what: "an image whose confirmation fails is rolled back",
      file: TRIAL,
      from: '    return isConfirmed ? undefined : "confirmation failed";',
      to: "    return isConfirmed ? undefined : undefined;",
      test: REPORTED,
      title: "confirm that fails 10 times*(2 connections)",
    },
  ],
  rollback: [
    {
      what: "a trial that failed selects the previous image",
      file: TRIAL,
      from: "() => host.slot.revert()",
      to: '() => host.slot.state() !== ""',
      test: REPORTED,
      title: "revert that fails 3 times*(2 connections)",
    },
    {
      what: "an image that failed four times is not fetched again",
      file: `${FIRMWARE}/journal.ts`,
      from: "failures > MAX_FAILURES;",
      to: "failures > 99;",
      test: REPORTED,
      title: "an image that crashes at once*(2 connections)",
    },
    {
      what: "an agent without firmware options rolls back an image on trial",
      file: `${FIRMWARE}/api.ts`,
      from: '  if (host.slot.revert()) host.restart("firmware");\n',
      to: "",
      test: "test/src/agent/agent.test.ts",
      title: "an agent without firmware options rolls back*",
    },
    {
      what: "an image on trial starts once",
      file: "tools/run/boot-loader.ts",
      from: "(found.started || found.starts >= MAX_STARTS)",
      to: "found.starts >= MAX_STARTS",
      test: "test/tools/run/boot-loader.test.ts",
      title: "an image on trial starts once*",
    },
    {
      what: "the previous image starts where a trial cannot be stored",
      file: "tools/run/boot-loader.ts",
      from: "    if (!boot || !before || !image || !isDiskTrouble(error)) throw error;",
      to: "    if (!boot || !before || !image || isDiskTrouble(error)) throw error;",
      test: "test/tools/run/boot-loader.test.ts",
      title: "a disk that is read-only*",
    },
    {
      what: "an image whose bytes changed does not start",
      file: "tools/run/slot-images.ts",
      from: "copy(slot, image.length, file) !== image.sha256",
      to: "copy(slot, image.length, file) === undefined",
      test: "test/tools/run/boot-loader.test.ts",
      title: "an image whose bytes changed*",
    },
    {
      what: "the slot of the previous image is not written during a trial",
      file: "hosts/device/boot-slots/boot-slots.ts",
      from: 'if (this._state === "pending" || this._activated) return false;',
      to: "if (this._activated) return false;",
      test: "test/tools/run/boot-loader.test.ts",
      title: "the slot of the previous image*",
    },
  ],
  telemetry: [
    {
      what: "a refused point is dropped only if a probe right after it is accepted",
      file: "src/platform/body-sender.ts",
      from: "    if (isProven && sentAt - this._vouchedAt <= FRESH_MS) {",
      to: "    if (sentAt > 0) {",
      test: "test/src/agent/telemetry/refused-points.test.ts",
      title: "a probe that is accepted more than 10 s*",
    },
  ],
  "shared attributes": [
    {
      what: "an answer without the marker deletes nothing",
      file: "src/agent/attributes/reader.ts",
      from: "    if (!answer.ok || !hasMarker) {",
      to: "    if (!answer.ok) {",
      test: "test/src/agent/attributes/attributes.test.ts",
      title: "an empty answer without the marker deletes nothing*",
    },
    {
      what: "a key is deleted only if two reads lack it",
      file: "src/agent/attributes/shared-attributes.ts",
      from: "        if (now - known.missingSince < SECOND_READ_MS) isPending = true;",
      to: "        if (now < known.missingSince) isPending = true;",
      test: "test/src/agent/attributes/shared-attributes.test.ts",
      title: "removes an attribute that two reads lack*",
    },
  ],
  RPC: [
    {
      what: "a handler runs only if the RPC is stored",
      file: "src/agent/rpc/journal.ts",
      from: "    if (once && !this._save()) {",
      to: "    if (once && !this._save() && this._pending.length === 0) {",
      test: "test/src/agent/rpc/journal.test.ts",
      title: "where the RPC can't be stored, its handler does not run",
    },
    {
      what: "an acknowledged RPC is known on polls that were sent before",
      file: "src/agent/rpc/journal.ts",
      from: "    if (hasBegun || this._settled.length < MAX_SETTLED)",
      to: "    if (!hasBegun && this._settled.length < MAX_SETTLED)",
      test: "test/src/agent/rpc/journal.test.ts",
      title: "an acknowledged RPC is known on polls*",
    },
  ],
  pacing: [
    {
      what: "only an accepted request is free",
      file: "src/platform/pacer.ts",
      from: '    if (outcome.kind === "done" && this._pace.acceptedAreFree) this._refund(1);',
      to: "    this._refund(1);",
      test: "test/src/platform/pace.test.ts",
      title: "only an accepted request is free*",
    },
  ],
  session: [
    {
      what: "a token is stored before it is proposed",
      file: "src/agent/provisioning/token-store.ts",
      from: 'return this._write("proposed", proposed) ? proposed : undefined;',
      to: "return proposed;",
      test: "test/src/agent/provisioning/provisioning.test.ts",
      title: "a new device provisions itself with a token it proposed and stored first",
    },
  ],
  recovery: [
    {
      what: "the fifth crash starts recovery mode",
      file: "src/agent/lifecycle/recovery.ts",
      from: "const CRASHES = 5;",
      to: "const CRASHES = 50;",
      test: "test/src/agent/lifecycle/recovery.test.ts",
      title: "four crashes are none too many*",
    },
  ],
  reset: [
    {
      what: "a reset is stored before anything is forgotten",
      file: "src/agent/lifecycle/reset.ts",
      from: "if (!writeStored(this._core.host, IN_PROGRESS, true))",
      to: "if (this._logged)",
      test: "test/src/agent/lifecycle/reset.test.ts",
      title: "a store that does not take it leaves all as it was*",
    },
  ],
  "stored time": [
    {
      what: "no stamp is used twice over a restart",
      file: "src/agent/queue/record.ts",
      from: "  state.floor = lastStampOf(state);\n",
      to: "  state.floor = 0;\n",
      test: "test/src/agent/time.test.ts",
      title: "a boot epoch that seems to begin within the last burst*",
    },
  ],
  "HTTP reader": [
    {
      what: "an answer with two ends of its body is refused",
      file: "src/http/head.ts",
      from: '  if (chunked && length !== undefined) return "both length and chunks";\n',
      to: "",
      test: "test/src/http/response.test.ts",
      title: "refused or unfinished, however it is cut: both",
    },
  ],
  "token binding": [
    {
      what: "a connection with another binding sends no token",
      file: "src/http/connection.ts",
      from: "    if (credential && !isSameBinding(credential.binding, this._binding))",
      to: "    if (credential && this._closed)",
      test: "test/src/http/connection.test.ts",
      title: "a credential goes out on the connection that it is bound to*",
    },
  ],
  "TLS trust": [
    {
      what: "a board with a CA of its owner asks with it, not with public ones",
      file: "hosts/esp32/commissioning/commissioning.ts",
      from: "given.length > 0 ? machine.trusting(given.concat(machine.authorities ?? [])) : host.open",
      to: "given.length < 0 ? machine.trusting(given.concat(machine.authorities ?? [])) : host.open",
      test: "test/hosts/esp32/trust.test.ts",
      title: "the CA of an image counts beside one that the owner entered*",
    },
    {
      what: "Node trusts the given CAs in place of its own",
      file: "hosts/node/sockets.ts",
      from: '...(ca !== undefined && { ca: typeof ca === "string" ? ca : [...ca] }),',
      to: "",
      test: "test/hosts/node/trusted-cas.test.ts",
      title: "a server is accepted if a valid CA*",
    },
  ],
  "time of a board": [
    {
      what: "a time before the floor is accepted from nobody",
      file: "hosts/esp32/time-of-day.ts",
      from: "seconds < this._floor || seconds > this._built + LIFE_S",
      to: "seconds > this._built + LIFE_S",
      test: "test/hosts/esp32/time.test.ts",
      title: "a time before the build*",
    },
  ],
  redactor: [
    {
      what: "an encoded secret is masked too",
      file: "src/wire/text/redactor.ts",
      from: "[secret, JSON.stringify(secret).slice(1, -1), escaped, withLowerDigits(escaped)]",
      to: "[secret]",
      test: "test/src/wire/redactor.test.ts",
      title: "masks any secret in any text",
    },
  ],
  rollout: [
    {
      what: "each planned device passed or is left out by name",
      file: "tools/cli/rollout/evidence.ts",
      from: "accounted.size === planned.size && [...passed].some(isPlanned)",
      to: "[...passed].some(isPlanned)",
      test: "test/tools/cli/rollout/stages.test.ts",
      title: "a rollout is proven if*",
    },
    {
      what: "a state counts only if it is newer than the assignment",
      file: "tools/cli/rollout/device-state.ts",
      from: "const isFresh = isTold && state.ts > assigned.at && !isAhead;",
      to: "const isFresh = isTold;",
      test: "test/tools/cli/rollout/stages.test.ts",
      title: "a state counts only*",
    },
  ],
  supervisor: [
    {
      what: "only a message with the secret of the start counts",
      file: "tools/run/child.ts",
      from: "  if (!line.startsWith(",
      to: '  if (line === "" && !line.startsWith(',
      and: { from: "line.slice(secret.length + 1)", to: 'line.slice(Math.max(0, line.indexOf("{")))' },
      test: "test/tools/run/child.test.ts",
      title: "only a message with the secret*",
    },
    {
      what: "a trial has a deadline that only a confirmation ends",
      file: "tools/run/child.ts",
      from: '    if (kind === "confirmed") clearTimeout(this.#trial);',
      to: '    if (kind === "ready") clearTimeout(this.#trial);',
      test: "test/tools/run/child.test.ts",
      title: "signs of life and a start*",
    },
  ],
};
