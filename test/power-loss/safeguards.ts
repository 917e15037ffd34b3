// What keeps the promises when the power goes, as edits that take it away: the power losses of each
// group must miss theirs.

/** Text that is once in a file, and what stands in its place without the safeguard. */
interface Edit {
  readonly from: string;
  readonly to: string;
}

export interface Safeguard extends Edit {
  readonly what: string;
  readonly file: string;
  /** Another edit of the file. */
  readonly and?: Edit;
}

const AGENT = "src/agent";

/** By the group of cases that misses them. */
export const safeguards: Readonly<Record<string, readonly Safeguard[]>> = {
  outbox: [
    {
      what: "the checksum of a record is looked at",
      file: `${AGENT}/queue/record.ts`,
      from: "return words[at >> 2] === (records.crc(bytes, at + 4, at + size) ^ sequence) ? size : 0;",
      to: "return sequence >= 0 ? size : 0;",
    },
    {
      what: "a point is on flash before `record` returns",
      file: `${AGENT}/queue/outbox.ts`,
      from: "return this.settings.durable || log.failed || this._buffer",
      to: "return log.failed || this._buffer",
    },
    {
      what: "the points of a queue that is gone are counted by its witness",
      file: `${AGENT}/queue/witness.ts`,
      from: "  if (isOlder || value.isFailing === 1) state.stored = Math.max(state.stored, bound);\n",
      to: "",
    },
  ],
  telemetry: [
    {
      what: "the start of an epoch is stored before a point gets a time stamp by it",
      file: `${AGENT}/queue/outbox.ts`,
      from: "    else log.save();\n",
      to: "",
      and: {
        from: "return !log || !(log.failed || log.dirty) || this._witness.hasTime(this._state);",
        to: "return true;",
      },
    },
  ],
  provisioning: [
    {
      what: "a token is stored before it is proposed",
      file: `${AGENT}/provisioning/token-store.ts`,
      from: 'return this._write("proposed", proposed) ? proposed : undefined;',
      to: "return proposed;",
    },
  ],
  rpc: [
    {
      what: "an RPC is stored before its handler runs",
      file: `${AGENT}/rpc/journal.ts`,
      from: "    if (once && !this._save()) {",
      to: "    if (once && this._pending.length === 0) {",
    },
  ],
  attributes: [
    {
      what: "client attributes stay to be sent until the platform took them",
      file: `${AGENT}/attributes/attributes.ts`,
      from: "    const request = post(attributesPath(), ",
      to: "    this._client.accepted(batch);\n    const request = post(attributesPath(), ",
    },
  ],
  reset: [
    {
      what: "that it is under way is stored before anything is forgotten",
      file: `${AGENT}/lifecycle/reset.ts`,
      from: "if (!writeStored(this._core.host, IN_PROGRESS, true))",
      to: "if (this._logged)",
    },
  ],
  files: [
    {
      what: "a value's bytes are synced before it gets its name",
      file: "hosts/node/files.ts",
      from: "    writeAll(file, bytes, 0);\n    fsyncSync(file);\n",
      to: "    writeAll(file, bytes, 0);\n",
    },
    {
      what: "what a killed process had not synced is synced at the start",
      file: "hosts/node/store.ts",
      from: "    syncLeft(directory);\n",
      to: "",
    },
  ],
  cycle: [
    {
      what: "what is in memory goes to flash before the sleep",
      file: `${AGENT}/lifecycle/sleep-cycle.ts`,
      from: "const unkept = outbox.saveAll();",
      to: "const unkept = 0;",
    },
  ],
};
