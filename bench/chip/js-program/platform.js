// Requests of the device HTTP API, by the SDK's HTTPClient.
import TextDecoder from "text/decoder";
import Timer from "timer";

/** When the image was built: this module is preloaded, so it was evaluated then. */
export const BUILT = Date.now();
const LONGEST_WAIT_MS = 60_000;

/** One connection, that is kept. */
export class Client {
  #network;
  #host;
  #port;
  #path;
  #http;

  constructor(network, { baseUrl, token }) {
    const [host, port] = baseUrl.split("//")[1].split(":");
    this.#network = network;
    this.#host = host;
    this.#port = Number(port);
    this.#path = `/api/v1/${token}/`;
  }

  /** `done` gets the status and the text of the answer; undefined if nobody answered. `body`: a value, which makes it a POST. `received`: takes the answer's bytes. */
  request(path, body, done, received) {
    this.#http ??= new this.#network.io({
      ...this.#network,
      host: this.#host,
      port: this.#port,
      onError: () => {
        this.#http = undefined;
      },
    });
    const data = body === undefined ? undefined : ArrayBuffer.fromString(JSON.stringify(body));
    const headers = new Map();
    if (data) {
      headers.set("content-type", "application/json");
      headers.set("content-length", data.byteLength);
    }
    let status;
    let date;
    let isLast;
    let text = "";
    let written = 0;
    const decoder = new TextDecoder();
    this.#http.request({
      method: data ? "POST" : "GET",
      path: this.#path + path,
      headers,
      onHeaders(code, answered) {
        status = code;
        date = answered.get("date");
        isLast = answered.get("connection") === "close";
      },
      onWritable(count) {
        const part = new Uint8Array(data, written, Math.min(count, data.byteLength - written));
        written += part.byteLength;
        this.write(part);
      },
      onReadable(count) {
        const bytes = this.read(count);
        if (received && status === 200) received(bytes);
        else text += decoder.decode(bytes, { stream: true });
      },
      onDone: (error) => {
        // The client itself would ask its next question on the connection that is about to end.
        if (isLast && !error) this.#close();
        if (error) done();
        else done(status, text, date);
      },
    });
  }

  #close() {
    this.#http?.close();
    this.#http = undefined;
  }
}

/** Waits after failures, longer each time. */
export class Pause {
  #failures = 0;

  reset() {
    this.#failures = 0;
  }

  before(go) {
    // The first time it may have been a connection that was closed meanwhile.
    const ms = this.#failures === 0 ? 0 : Math.min(LONGEST_WAIT_MS, 500 * 2 ** this.#failures);
    this.#failures++;
    Timer.set(go, ms / 2 + (Math.random() * ms) / 2);
  }
}
