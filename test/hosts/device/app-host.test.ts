// The keys of the agent, found in its source: a new one must be reserved too. Diagnostics and
// report-on-change store with the host of the application, so their keys are not reserved.
import test from "ava";
import { isAgentKey } from "../../../hosts/device/app-host.js";
import { files } from "../../architecture/tree.js";

/** A key given as text, or by a constant of the same file. */
const STORED =
  /(?:readStored|readOwn|writeStored|forgetStored)\([^,()]*(?:\(\))?[^,()]*, ("[^"]+"|[A-Z_]+)\b/g;

test("every key that the agent writes as text or constant is reserved", (t) => {
  const keys = new Set<string>();
  for (const { text } of ["src", "extras/commissioning", "tools/run"].flatMap((root) =>
    files(root, /\.ts$/),
  )) {
    for (const [, named = ""] of text.matchAll(STORED)) {
      const key = named.startsWith('"') ? named : new RegExp(`const ${named} = ("[^"]+")`).exec(text)?.[1];
      if (key) keys.add(JSON.parse(key));
    }
  }
  t.true(keys.size >= 13, `found ${[...keys].join(", ")}`);
  t.deepEqual(
    [...keys].filter((key) => !isAgentKey(key)),
    [],
  );
});

test("copies are reserved, other keys are the application's", (t) => {
  for (const key of ["token-old", "rpc", "rpc-old", "new-proposed", "image-a", "image-b"])
    t.true(isAgentKey(key), key);
  for (const key of ["offset", "desk.starts", "health", "reported", "tokens", "rpc0", "rpcs", "-old"])
    t.false(isAgentKey(key), key);
});
