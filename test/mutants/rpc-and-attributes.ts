// Mutants of: RPC, shared attributes, what the application asks.
import type { Mutant } from "./mutant.js";

const ONCE = "No RPC runs twice";
const AGENT = "src/agent";

export const rpcAndAttributes: readonly Mutant[] = [
  {
    name: "each answer to an RPC is posted twice",
    promise: ONCE,
    file: `${AGENT}/rpc/rpc.ts`,
    find: "    const answer = post(rpcAnswerPath(entry.id), body, patience);\n",
    replace:
      "    const answer = post(rpcAnswerPath(entry.id), body, patience);\n    void this._uplink.send(answer);\n",
    tests: ["src/agent/rpc/rpc.test.js"],
  },
  {
    name: "an RPC is forgotten though nobody acknowledged its answer",
    promise: ONCE,
    file: `${AGENT}/rpc/rpc.ts`,
    find: "    if (acknowledged) this._acknowledged(entry);\n    else this._journal.unacknowledged(entry);",
    replace: "    this._acknowledged(entry);",
    tests: ["src/agent/rpc/journal.test.js"],
  },
  {
    name: "the end of a poll clears what is unacknowledged",
    promise: ONCE,
    file: `${AGENT}/rpc/journal.ts`,
    find: "if (entry.acknowledgedAt !== undefined && oldest >= entry.acknowledgedAt) this._drop(entry);",
    replace: "if (oldest >= (entry.acknowledgedAt ?? 0)) this._drop(entry);",
    tests: ["src/agent/rpc/journal.test.js"],
  },
  {
    name: "an acknowledged RPC is known on later polls as well",
    promise: ONCE,
    file: `${AGENT}/rpc/journal.ts`,
    find: "(acknowledgedAt === undefined || poll < acknowledgedAt)",
    replace: "(acknowledgedAt === undefined || poll >= 0)",
    tests: ["src/agent/rpc/journal-entries.test.js"],
  },
  {
    name: "a handler runs for an RPC that could not be stored",
    promise: ONCE,
    file: `${AGENT}/rpc/journal.ts`,
    find: 'if (effect === "stored" && !this._store(entry)) return "not stored";',
    replace: 'if (effect === "stored") this._store(entry);',
    tests: ["src/agent/rpc/stored.test.js"],
  },
  {
    name: "a ninth unacknowledged RPC runs",
    promise: ONCE,
    file: `${AGENT}/rpc/journal.ts`,
    find: 'if (ran && this._full()) return "full";',
    replace: 'if (ran && this._full() && id < -1e9) return "full";',
    tests: ["src/agent/rpc/journal-entries.test.js"],
  },
  {
    name: "the connection repeats an answer to an RPC by itself",
    promise: ONCE,
    file: `${AGENT}/rpc/rpc.ts`,
    find: "headRoom: HEAD_ROOM, repeatable: false, onIdle: true",
    replace: "headRoom: HEAD_ROOM, onIdle: true",
    tests: ["src/agent/rpc/journal.test.js"],
  },
  {
    name: "acknowledged RPCs are kept for ever",
    promise: "It does not grow",
    file: `${AGENT}/rpc/rpc.ts`,
    find: "    this._journal.pollEnded(this._polls.oldest);\n",
    replace: "",
    tests: ["src/agent/rpc/rpc.test.js"],
  },
  {
    name: "a notification does not void a read under way",
    promise: ONCE,
    file: `${AGENT}/attributes/loop.ts`,
    find: "    if (this._polls.hasNews) return this.readSoon(READ_AFTER_POLL_MS);\n",
    replace: "",
    tests: ["src/agent/attributes/attributes.test.js"],
  },
  {
    name: "an answer without the freshness marker is believed",
    promise: ONCE,
    file: `${AGENT}/attributes/reader.ts`,
    find: "    if (!hasMarker) {\n      this._channel.hold();\n      return false;\n    }\n",
    replace: "",
    tests: ["src/agent/attributes/attributes.test.js"],
  },
  {
    name: "one answer without a key deletes it",
    promise: ONCE,
    file: `${AGENT}/attributes/shared-values.ts`,
    find: "if (now - known.missingSince >= SECOND_LOOK_MS) gone.push(key);",
    replace: "if (now >= known.missingSince) gone.push(key);",
    tests: ["src/agent/attributes/attributes.test.js"],
  },
  {
    name: "values are not read once the next poll is open",
    promise: ONCE,
    file: `${AGENT}/attributes/polls.ts`,
    find: "      sent: () => this._loop.readSoon(READ_AFTER_POLL_MS),\n",
    replace: "",
    tests: ["src/agent/attributes/attributes.test.js"],
  },
  {
    name: "claiming leaves the secret out",
    promise: "The tour",
    file: "src/wire/claim.ts",
    find: "quote(secretKey)",
    replace: 'quote("")',
    tests: ["src/agent/agent.test.js"],
  },
];
