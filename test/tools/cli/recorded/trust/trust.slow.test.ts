// Whom devices trust, as the commands print it: played devices, whose words are an operator's to read.
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { CERT } from "../../../../hosts/port/tls-fixture.js";
import { killAll } from "../../commands.js";
import { startRig } from "../rig.js";

test.after.always(killAll);

test("lists the CAs of devices; an unanswered push ends in a timeout", async (t) => {
  const rig = await startRig(t);
  const { recording, operator, home } = rig;
  const profile = await operator.profiles.save({ name: "pumps" });
  const options = { profileId: profile.id.id };
  const [pump1, pump2] = ["pump-1", "pump-2", "pump-3"].map((name) => rig.device(name, options));
  const [one, other] = ["1f0c5a77b2e94d01", "9b1c0ffee2e94d02"];
  await pump1!.send("attributes", {
    moteTrustState: {
      sequence: 1_795_000_000,
      trusts: [
        { sha256: one, ends: "2027-01-05" },
        { sha256: other, ends: "2036-11-20" },
      ],
      waiting: [one],
    },
    moteTrustWarning: "",
  });
  await pump2!.send("attributes", {
    moteTrustState: {
      sequence: 0,
      trusts: [{ sha256: "built-in" }],
      refused: { reason: "it is not signed with firmware.publicKey", sequence: 1_795_000_000 },
    },
    moteTrustWarning: "the last trusted CA expires on 2027-01-05",
  });
  await recording.run(["trust", "list", "--profile", "pumps"], { COLUMNS: "80" });
  await recording.run(["trust", "list", "--profile", "pumps", "--wide"]);
  await recording.run(["trust", "list", "--profile", "pumps", "--json"]);
  await recording.run(["trust", "list"]);
  await recording.run(["trust", "list", "--device", "nothere"]);
  const [ca, key] = [join(home, "new-root.pem"), join(home, "key.pem")];
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(ca, CERT);
  writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" }));
  const push = ["trust", "push", "--key", key, "--product", "pump", "--device", "pump-3"];
  await recording.run(push);
  await recording.run([...push, "--drop", "new"]);
  await recording.run([...push, "--ca", key]);
  await recording.run([...push, "--ca", ca, "--timeout", "500ms"]);
  await recording.run([...push, "--drop", "old", "--timeout", "500ms", "--json"]);
  recording.compare(t, "trust/trust");
});
