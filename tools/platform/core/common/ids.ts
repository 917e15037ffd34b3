import { randomInt, randomUUID } from "node:crypto";

/** Where ids and tokens come from; a test may hand in its own. */
export interface Ids {
  uuid(): string;
  /** `length` random letters and digits. */
  token(length: number): string;
}

const SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export const randomIds: Ids = {
  uuid: () => randomUUID(),
  token: (length) => Array.from({ length }, () => SIGNS[randomInt(SIGNS.length)]).join(""),
};

/** Stands for "none" where the platform's entities refer to a customer. */
export const NIL_ID = "13814000-1dd2-11b2-8080-808080808080";
