// Telemetry, server-side RPC and shared attributes, each with a connection of its own.
import keyValue from "embedded:storage/key-value";
import { Pause } from "platform";
import Time from "time";
import Timer from "timer";

const MOST_POINTS = 120;
const MOST_BATCH = 50;
/** How long a point waits for others to fill a batch. */
const BATCH_AGE_MS = 60_000;
export const KEYS = "sharedKeys=setting,fw_title,fw_version,fw_size,fw_checksum,fw_checksum_algorithm";

export class Telemetry {
  #client;
  #store = keyValue.open({ path: "points", mode: "r+" });
  #points = [];
  #number = 0;
  #batch = 1;
  #durable = false;
  #timer;
  #late;
  #sending = false;
  #pause = new Pause();

  constructor(client) {
    this.#client = client;
  }

  /** Points of before the power went. */
  restore() {
    for (const key of this.#store) {
      const bytes = this.#store.read(key);
      if (!bytes) continue;
      const point = JSON.parse(String.fromArrayBuffer(bytes));
      this.#number = Math.max(this.#number, point.number + 1);
      this.#points.push(point);
    }
  }

  /** A point every `ms`, none with 0; POSTs of `batch` points. */
  every(ms, batch, durable) {
    Timer.clear(this.#timer);
    this.#batch = Math.max(1, Math.min(MOST_BATCH, batch));
    this.#durable = durable;
    this.#timer = ms > 0 ? Timer.repeat(() => this.#sample(), ms) : undefined;
  }

  /** A POST of its own. */
  post(values, done) {
    this.#client.request("telemetry", values, (status, _, date) => {
      learnTime(date);
      if (status === undefined) this.#pause.before(() => this.post(values, done));
      else {
        this.#pause.reset();
        done?.();
      }
    });
  }

  #sample() {
    const number = this.#number++;
    const values = { temperature: 20 + (number % 100) / 10, humidity: 40 + (number % 50) / 10 };
    const point = { number, ts: Date.now(), values };
    if (this.#durable) this.#store.write(`p${number}`, ArrayBuffer.fromString(JSON.stringify(point)));
    if (this.#points.length < MOST_POINTS) this.#points.push(point);
    if (this.#points.length >= this.#batch) this.#send();
    else this.#late ??= Timer.set(() => this.#send(), BATCH_AGE_MS);
  }

  #send() {
    if (this.#sending || this.#points.length === 0) return;
    Timer.clear(this.#late);
    this.#late = undefined;
    this.#sending = true;
    const part = this.#points.slice(0, this.#batch);
    this.#client.request(
      "telemetry",
      part.map(({ ts, values }) => ({ ts, values })),
      (status) => this.#sent(part, status),
    );
  }

  #sent(part, status) {
    this.#sending = false;
    if (status !== 200 && !(status >= 400 && status < 500 && status !== 429)) {
      this.#pause.before(() => this.#send());
      return;
    }
    this.#pause.reset();
    this.#points.splice(0, part.length);
    if (this.#durable) for (const { number } of part) this.#store.delete(`p${number}`);
    if (this.#points.length >= this.#batch) this.#send();
  }
}

/** There is no time server on the emulated network: the platform says what time it is. */
function learnTime(date) {
  if (date && Date.now() < 1.6e12) Time.set(Date.parse(date) / 1000);
}

export class Rpc {
  #client;
  #methods;
  #pause = new Pause();

  constructor(client, methods) {
    this.#client = client;
    this.#methods = methods;
  }

  poll() {
    this.#client.request("rpc?timeout=25000", undefined, (status, text) => {
      if (status === 200) this.#answer(JSON.parse(text));
      else if (status !== 408) {
        this.#pause.before(() => this.poll());
        return;
      }
      this.#pause.reset();
      this.poll();
    });
  }

  #answer({ id, method, params }) {
    const call = this.#methods[method];
    const result = call ? call(params) : { error: "unknown method" };
    this.#client.request(`rpc/${id}`, result ?? null, () => {});
  }
}

export class Attributes {
  #client;
  #changed;
  #known = false;
  #pause = new Pause();

  constructor(client, changed) {
    this.#client = client;
    this.#changed = changed;
  }

  poll() {
    const path = this.#known ? "attributes/updates?timeout=25000" : `attributes?${KEYS}`;
    this.#client.request(path, undefined, (status, text) => {
      if (status === 200) {
        const answer = JSON.parse(text);
        this.#changed(this.#known ? answer : (answer.shared ?? {}));
        // What is changed beside a deletion comes a moment later, maybe while no poll is open.
        this.#known = answer.deleted === undefined;
        if (!this.#known) {
          Timer.set(() => this.poll(), 1000);
          return;
        }
      } else if (status !== 408) {
        // What changed meanwhile was not received.
        this.#known = false;
        this.#pause.before(() => this.poll());
        return;
      }
      this.#pause.reset();
      this.poll();
    });
  }
}
