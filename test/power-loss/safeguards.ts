// What keeps the promises when the power goes, as edits that take it away: the power losses of each group must miss theirs.

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
      from: "return words[word] === (checksum(words, word, (at + length + 3) >> 2) ^ sequence) ? padded(length) : 0;",
      to: "return sequence >= 0 ? padded(length) : 0;",
    },
    {
      what: "the checksum of a sector's header is looked at",
      file: `${AGENT}/queue/record.ts`,
      from: "isHeader(header) && header[0] === (checksum(header, 0, HEADER_LENGTH >> 2) ^ sequenceOf(header));",
      to: "isHeader(header);",
    },
    {
      what: "nothing is appended behind a torn record",
      file: `${AGENT}/queue/sector-log.ts`,
      from: "    this.dirty = true;\n    this._tail = this._size;\n    return true;\n",
      to: "    this._tail = at;\n    return true;\n",
    },
    {
      what: "a sector is erased before it gets a header",
      file: `${AGENT}/queue/sector-log.ts`,
      from: "    if (!this._blocks.erase(at)) return false;\n",
      to: "",
    },
    {
      what: "a point is on flash before `record` returns",
      file: `${AGENT}/queue/outbox.ts`,
      from: "if (this.isFailing || this.settings.durable || this._buffer",
      to: "if (this.isFailing || this._buffer",
    },
    {
      what: "with `durable: false` a point is on flash after 1 s",
      file: `${AGENT}/queue/outbox.ts`,
      from: "const STAGE_MS = 1000;",
      to: "const STAGE_MS = 10_000_000;",
    },
    {
      what: "what the platform took is noted on flash",
      file: `${AGENT}/queue/sector-log.ts`,
      from: "    this._enter(kind, state.finished);\n",
      to: "    if (kind === FULL) this._enter(kind, state.finished);\n",
    },
    {
      what: "the oldest sector's points are noted as dropped before it is erased",
      file: `${AGENT}/queue/sector-log.ts`,
      from: "} else if (dropsOldest) this.finish(FULL, this._endOf(this._head.sequence));",
      to: "} else if (dropsOldest) this.state.finished = this._endOf(this._head.sequence);",
    },
    {
      what: "`reset` erases the newest sector last",
      file: `${AGENT}/queue/sector-log.ts`,
      from: "(newest + i * this._size) %",
      to: "(newest + (i - 1) * this._size) %",
    },
    {
      what: "the points of a queue that is gone are counted by its witness",
      file: `${AGENT}/queue/witness.ts`,
      from: "  if (isOlder || mark.isFailing === 1) state.stored = Math.max(state.stored, bound);\n",
      to: "",
    },
  ],
  telemetry: [
    {
      what: "the start of an epoch is stored before a point gets a time stamp by it",
      file: `${AGENT}/queue/outbox.ts`,
      from: "const isSaved = !this.isFailing && log.makeRoom(TIME_BYTES, this._dropsOldest) && log.enterTime();\n    if (!isSaved) log.dirty = true;\n",
      to: "const isSaved = true;\n",
    },
    {
      what: "points are forgotten only when the platform took them",
      file: `${AGENT}/telemetry/telemetry.ts`,
      from: "    this._sentAt = this._session.host.clock.now();\n    return body",
      to: "    this._sentAt = this._session.host.clock.now();\n    if (this._batch) this._outbox.confirm(this._batch.number + this._batch.points);\n    return body",
    },
  ],
  provisioning: [
    {
      what: "a token is stored before it is proposed",
      file: `${AGENT}/provisioning/token-store.ts`,
      from: 'return this._write("proposed", proposed) ? proposed : undefined;',
      to: "return proposed;",
    },
    {
      what: "a token is stored before it is used",
      file: `${AGENT}/provisioning/provisioning.ts`,
      from: "    if (!token || !this._tokens.save(token, this.deviceName)) return STORE_RETRY_MS;\n",
      to: "    if (!token) return STORE_RETRY_MS;\n",
    },
    {
      what: "the proposed token is forgotten after the other was stored",
      file: `${AGENT}/provisioning/provisioning.ts`,
      from: "    this._attributes.provisioned();\n",
      to: "    this._attributes.provisioned();\n    this._tokens.deleteProposed();\n",
    },
  ],
  rpc: [
    {
      what: "an RPC is stored before its handler runs",
      file: `${AGENT}/rpc/journal.ts`,
      from: '    if (effect === "stored" && !this._store(entry)) return "not stored";\n',
      to: "",
    },
    {
      what: "an answer that did not come through is stored before it goes out again",
      file: `${AGENT}/rpc/journal.ts`,
      from: "entry.answerStored = writeStored(this._host, key, {",
      to: "entry.answerStored = [].includes.call([], {",
    },
    {
      what: "an RPC is kept in mind until its answer is acknowledged",
      file: `${AGENT}/rpc/rpc.ts`,
      from: "(await this._handlers.run(handler as Handler, request.params));\n",
      to: "(await this._handlers.run(handler as Handler, request.params));\n    this._journal.forget();\n",
    },
  ],
  attributes: [
    {
      what: "client attributes are stored before `publish` returns",
      file: `${AGENT}/attributes/client-attributes.ts`,
      from: "    if (changed || (taken && !this._stored)) this._save();\n",
      to: "",
    },
    {
      what: "client attributes stay to be sent until the platform took them",
      file: `${AGENT}/attributes/loop.ts`,
      from: "    const outcome = await this._uplink.send(post(attributesPath()",
      to: "    this._client.accepted(batch);\n    const outcome = await this._uplink.send(post(attributesPath()",
    },
    {
      what: "a shared value is stored before the application is notified",
      file: `${AGENT}/attributes/loop.ts`,
      from: "    this._values.save();\n    this._events",
      to: "    this._events",
      and: {
        from: "    this._onChange(keys.concat(deleted));\n",
        to: "    this._onChange(keys.concat(deleted));\n    this._values.save();\n",
      },
    },
  ],
  polls: [
    {
      what: "the ceiling of polls is stored before the next poll",
      file: "src/platform/poll-timing.ts",
      from: "if (ceiling) writeStored(this._host, STORED, { to: wayTo(this._target), ...ceiling });\n    else",
      to: "if (!ceiling)",
    },
  ],
  reset: [
    {
      what: "that it is under way is stored before anything is forgotten",
      file: `${AGENT}/lifecycle/reset.ts`,
      from: "if (!writeStored(this._core.host, MARK, true))",
      to: "if (this._logged)",
    },
    {
      what: "that it is under way is forgotten last",
      file: `${AGENT}/lifecycle/reset.ts`,
      from: "    this._remaining = this._remaining.filter((part) => !part.forget());\n",
      to: "    forgetStored(this._core.host, MARK);\n    this._remaining = this._remaining.filter((part) => !part.forget());\n",
    },
    {
      what: "nothing is forgotten before the platform has the answer",
      file: `${AGENT}/rpc/rpc.ts`,
      from: "    const acknowledged = !this._idWasReused(entry)",
      to: "    this._answers.answered(method, text, true, 0);\n    const acknowledged = !this._idWasReused(entry)",
    },
    {
      what: "a sector is erased unless all of it is blank",
      file: `${AGENT}/queue/sector-log.ts`,
      from: "if (this._lastWrittenFrom(at, 0) === 0) continue;",
      to: "if (this._readHeader(at) === NONE) continue;",
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
      what: "a value's new name is synced",
      file: "hosts/node/files.ts",
      from: "  publish(aside, path, fence);\n  syncDirectory(directory);\n",
      to: "  publish(aside, path, fence);\n",
    },
    {
      what: "a value is written aside",
      file: "hosts/node/files.ts",
      from: "const aside = temporaryPath(path, fence.tag);\n  const file",
      to: "const aside = path;\n  const file",
    },
    {
      what: "the name of a directory that was made is synced",
      file: "hosts/node/files.ts",
      from: "lost with the directory's own name.\n  syncLeft(above);\n}",
      to: "lost with the directory's own name.\n}",
      and: { from: "    syncLeft(above);\n    return;", to: "    return;" },
    },
    {
      what: "what a killed process had not synced is synced at the start",
      file: "hosts/node/store.ts",
      from: "    syncLeft(directory);\n",
      to: "",
    },
    {
      what: "a write to a sector is synced",
      file: "hosts/node/blocks.ts",
      from: "if (!this.#isSlot || (at + bytes.length) % SECTOR === 0) this.#sync();",
      to: "",
    },
    {
      what: "what was written to a slot is synced before anything is erased",
      file: "hosts/node/blocks.ts",
      from: "this.#sync();\n      this.#load(at, this.#scratch);",
      to: "this.#load(at, this.#scratch);",
    },
  ],
  cycle: [
    {
      what: "what is in memory goes to flash before the sleep",
      file: `${AGENT}/lifecycle/sleep-cycle.ts`,
      from: "const unkept = outbox.close();",
      to: "const unkept = 0;",
    },
  ],
};
