// What the tables of answers are made of.

/** `end`: the peer closes in good order behind it. `limit`: default 64. */
export interface Base {
  readonly name: string;
  readonly bytes: string;
  readonly end?: true;
  readonly limit?: number;
}

export interface Lawful extends Base {
  /** Default 200. */
  readonly status?: number;
  /** Default "[12]". */
  readonly body?: string;
  /** Default true. */
  readonly whole?: boolean;
  /** Default true. */
  readonly reusable?: boolean;
  readonly retryAfterMs?: number;
  readonly date?: number;
}

export interface Unlawful extends Base {
  /** Empty: it is not over, more would have to come. */
  readonly problem: string;
}

export const OK = "HTTP/1.1 200 OK\r\n";
export const BODY = "Content-Length: 4\r\n\r\n[12]";
export const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
