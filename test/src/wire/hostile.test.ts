import test from "ava";
import { parseRpcRequest } from "../../../src/wire/rpc.js";

test("a damaged request is never read with an id that stands elsewhere in it", (t) => {
  for (const text of [
    '{"params":{"id":5,"method":"x"',
    '{"a":"\\"id\\":5',
    '[{"id":5,"method":"x"}',
    '{"id":{"id":5},"method":"x"',
  ]) {
    t.false(parseRpcRequest(text, false).ok, text);
  }
});
