// What keeps the promises when the power goes, as edits that take it away: each is to be missed by the power losses of `group`.

export interface Safeguard {
  readonly group: string;
  readonly what: string;
  readonly file: string;
  /** Text of the file, once in it, and what stands in its place without the safeguard. */
  readonly edits: readonly (readonly [from: string, to: string])[];
}

const AGENT = "src/agent";

export const safeguards: readonly Safeguard[] = [
  {
    group: "outbox",
    what: "the checksum of a record is looked at",
    file: `${AGENT}/queue/record.ts`,
    edits: [
      [
        "return words[word] === (checksum(words, word, (at + length + 3) >> 2) ^ sequence) ? padded(length) : 0;",
        "return sequence >= 0 ? padded(length) : 0;",
      ],
    ],
  },
  {
    group: "outbox",
    what: "the CRC of a sector's header is looked at",
    file: `${AGENT}/queue/record.ts`,
    edits: [
      [
        "return isHeader(bytes) && getU32(bytes, CRC_AT) === crc32(bytes, 0, CRC_AT);",
        "return isHeader(bytes);",
      ],
    ],
  },
  {
    group: "outbox",
    what: "nothing is appended behind a torn record",
    file: `${AGENT}/queue/flash-log.ts`,
    edits: [["this._tail = isWhole && !isDamaged ? at : this._sectorSize;", "this._tail = at;"]],
  },
  {
    group: "outbox",
    what: "a sector is erased before it gets a header",
    file: `${AGENT}/queue/flash-log.ts`,
    edits: [["    if (!this._blocks.erase(at)) return false;\n", ""]],
  },
  {
    group: "outbox",
    what: "a point is on flash before `record` returns",
    file: `${AGENT}/queue/flash-writer.ts`,
    edits: [["if (!log.failed && !this._isDurable && ring", "if (!log.failed && ring"]],
  },
  {
    group: "outbox",
    what: "with `durable: false` a point is on flash after 1 s",
    file: `${AGENT}/queue/flash-writer.ts`,
    edits: [["const STAGE_MS = 1000;", "const STAGE_MS = 10_000_000;"]],
  },
  {
    group: "outbox",
    what: "what the platform took is noted on flash",
    file: `${AGENT}/queue/flash-log.ts`,
    edits: [["    this._writeStatus(kind, state.finishedBelow, kind === DONE ? 0 : points);\n", ""]],
  },
  {
    group: "outbox",
    what: "the oldest sector's points are noted as dropped before it is erased",
    file: `${AGENT}/queue/flash-log.ts`,
    edits: [["    if (points > 0) this._writeStatus(kind, this.state.finishedBelow, points);\n", ""]],
  },
  {
    group: "outbox",
    what: "`reset` erases the newest sector last",
    file: `${AGENT}/queue/flash-log.ts`,
    edits: [["(newest + i * this._sectorSize) %", "(newest + (i - 1) * this._sectorSize) %"]],
  },
  {
    group: "outbox",
    what: "the points of a queue that is gone are counted by its high-water mark",
    file: `${AGENT}/queue/high-water-mark.ts`,
    edits: [["  state.next = Math.max(state.next, end + inMemory);\n", ""]],
  },
  {
    group: "telemetry",
    what: "the start of a boot epoch is stored before a point gets a time stamp by it",
    file: `${AGENT}/time/time.ts`,
    edits: [
      ["this._stamping = writeEpochs(this._host, this._epochs, this.lastStamp)", "this._stamping = true"],
    ],
  },
  {
    group: "telemetry",
    what: "points are forgotten only when the platform took them",
    file: `${AGENT}/telemetry/telemetry.ts`,
    edits: [
      [
        "    this._sentAt = this._session.host.clock.now();\n    return body",
        "    this._sentAt = this._session.host.clock.now();\n    if (this._batch) this._outbox.confirm(this._batch.number + this._batch.points);\n    return body",
      ],
    ],
  },
  {
    group: "provisioning",
    what: "a token is stored before it is proposed",
    file: `${AGENT}/provisioning/token-store.ts`,
    edits: [['return this._write("proposed", proposed) ? proposed : undefined;', "return proposed;"]],
  },
  {
    group: "provisioning",
    what: "a token is stored before it is used",
    file: `${AGENT}/provisioning/provisioning.ts`,
    edits: [
      [
        "    if (!token || !this._tokens.save(token, this.deviceName)) return STORE_RETRY_MS;\n",
        "    if (!token) return STORE_RETRY_MS;\n",
      ],
    ],
  },
  {
    group: "provisioning",
    what: "the proposed token is forgotten after the other was stored",
    file: `${AGENT}/provisioning/provisioning.ts`,
    edits: [
      [
        "    this._attributes.provisioned();\n",
        "    this._attributes.provisioned();\n    this._tokens.deleteProposed();\n",
      ],
    ],
  },
  {
    group: "rpc",
    what: "an RPC is stored before its handler runs",
    file: `${AGENT}/rpc/journal.ts`,
    edits: [['    if (effect === "stored" && !this._store(entry)) return "not stored";\n', ""]],
  },
  {
    group: "rpc",
    what: "an answer that did not come through is stored before it goes out again",
    file: `${AGENT}/rpc/journal.ts`,
    edits: [
      ["entry.answerStored = writeStored(this._host, key, {", "entry.answerStored = [].includes.call([], {"],
    ],
  },
  {
    group: "rpc",
    what: "an RPC is kept in mind until its answer is acknowledged",
    file: `${AGENT}/rpc/rpc.ts`,
    edits: [
      [
        "(await this._handlers.run(handler as Handler, request.params));\n",
        "(await this._handlers.run(handler as Handler, request.params));\n    this._journal.forget();\n",
      ],
    ],
  },
  {
    group: "attributes",
    what: "client attributes are stored before `publish` returns",
    file: `${AGENT}/attributes/client-attributes.ts`,
    edits: [["    this._items = items;\n    this._save();\n", "    this._items = items;\n"]],
  },
  {
    group: "attributes",
    what: "client attributes stay to be sent until the platform took them",
    file: `${AGENT}/attributes/loop.ts`,
    edits: [
      [
        "    const outcome = await this._uplink.send(post(attributesPath()",
        "    this._client.accepted(batch);\n    const outcome = await this._uplink.send(post(attributesPath()",
      ],
    ],
  },
  {
    group: "attributes",
    what: "a shared value is stored before the application is notified",
    file: `${AGENT}/attributes/loop.ts`,
    edits: [
      ["    this._values.save();\n    this._events", "    this._events"],
      [
        "    this._onChange(keys.concat(deleted));\n",
        "    this._onChange(keys.concat(deleted));\n    this._values.save();\n",
      ],
    ],
  },
  {
    group: "polls",
    what: "the ceiling of polls is stored before the next poll",
    file: "src/platform/poll-timing.ts",
    edits: [
      [
        "if (ceiling) writeStored(this._host, STORED, { to: wayTo(this._target), ...ceiling });\n    else",
        "if (!ceiling)",
      ],
    ],
  },
  {
    group: "reset",
    what: "that it is under way is stored before anything is forgotten",
    file: `${AGENT}/lifecycle/reset.ts`,
    edits: [["if (!writeStored(this._core.host, MARK, true))", "if (this._logged)"]],
  },
  {
    group: "reset",
    what: "that it is under way is forgotten last",
    file: `${AGENT}/lifecycle/reset.ts`,
    edits: [
      [
        "    this._remaining = this._remaining.filter((part) => !part.forget());\n",
        "    forgetStored(this._core.host, MARK);\n    this._remaining = this._remaining.filter((part) => !part.forget());\n",
      ],
    ],
  },
  {
    group: "reset",
    what: "nothing is forgotten before the platform has the answer",
    file: `${AGENT}/rpc/rpc.ts`,
    edits: [
      [
        "    const acknowledged = !this._idWasReused(entry)",
        "    this._answers.answered(method, text, true, 0);\n    const acknowledged = !this._idWasReused(entry)",
      ],
    ],
  },
  {
    group: "reset",
    what: "a sector is erased unless all of it is blank",
    file: `${AGENT}/queue/flash-log.ts`,
    edits: [
      [
        "if (this._read(at, this.bytes) && this._isBlank(this.bytes, this.words)) continue;",
        "if (this._read(at, this.bytes) && isBlank(this.words.subarray(0, 14))) continue;",
      ],
    ],
  },
  {
    group: "files",
    what: "a value's bytes are synced before it gets its name",
    file: "hosts/node/files.ts",
    edits: [["    writeAll(file, bytes, 0);\n    fsyncSync(file);\n", "    writeAll(file, bytes, 0);\n"]],
  },
  {
    group: "files",
    what: "a value's new name is synced",
    file: "hosts/node/files.ts",
    edits: [
      ["  publish(aside, path, fence);\n  syncDirectory(directory);\n", "  publish(aside, path, fence);\n"],
    ],
  },
  {
    group: "files",
    what: "a value is written aside",
    file: "hosts/node/files.ts",
    edits: [
      ["const aside = temporaryPath(path, fence.tag);\n  const file", "const aside = path;\n  const file"],
    ],
  },
  {
    group: "files",
    what: "the name of a directory that was made is synced",
    file: "hosts/node/files.ts",
    edits: [
      [
        "lost with the directory's own name.\n  syncLeft(above);\n}",
        "lost with the directory's own name.\n}",
      ],
      ["    syncLeft(above);\n    return;", "    return;"],
    ],
  },
  {
    group: "files",
    what: "what a killed process had not synced is synced at the start",
    file: "hosts/node/store.ts",
    edits: [["    syncLeft(directory);\n", ""]],
  },
  {
    group: "files",
    what: "a write to a sector is synced",
    file: "hosts/node/blocks.ts",
    edits: [["if (!this.#isSlot || (at + bytes.length) % SECTOR === 0) this.#sync();", ""]],
  },
  {
    group: "files",
    what: "what was written to a slot is synced before anything is erased",
    file: "hosts/node/blocks.ts",
    edits: [["this.#sync();\n      this.#load(at, this.#scratch);", "this.#load(at, this.#scratch);"]],
  },
  {
    group: "cycle",
    what: "what is in memory goes to flash before the sleep",
    file: `${AGENT}/lifecycle/sleep-cycle.ts`,
    edits: [["const unkept = outbox.close();", "const unkept = 0;"]],
  },
  {
    group: "cycle",
    what: "the end of a boot epoch is stored with its start",
    file: `${AGENT}/time/time.ts`,
    edits: [
      [
        "this.lastStamp = Math.max(clockTimestamp(lastStamp) ?? 0, end)",
        "this.lastStamp = clockTimestamp(lastStamp) ?? 0",
      ],
    ],
  },
];
