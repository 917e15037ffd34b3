// One test for each way an update can end before the new image runs: what its operator learns on
// the platform, and what runs.
import { createHash } from "node:crypto";
import test from "ava";
import { VERSION } from "../../../../../src/version.js";
import { Lamp, type LampOptions } from "./lamp.js";
import {
  atHalf,
  away,
  each,
  ends,
  failed,
  firmwareOnly,
  LONG,
  lampWith,
  MINUTE,
  onTrial,
  SIZE,
  stays,
  UPDATED,
} from "./reported.js";

each("a wrong checksum: FAILED, the old image runs, and it is not fetched again", async (t, shape) => {
  const lamp = lampWith(shape, { checksum: createHash("sha256").update("other").digest("hex") });
  await ends(t, lamp, failed("wrong checksum"));
  t.deepEqual(lamp.states, ["DOWNLOADING", "DOWNLOADED", "FAILED"]);
  await stays(t, lamp);
});

each("the right checksum of a truncated image: FAILED, as it can't be activated", async (t, shape) => {
  const lamp = new Lamp(shape);
  const whole = lamp.image("2.0.0", SIZE);
  lamp.machine.fit = (image) => image.length === whole.length;
  lamp.assign(lamp.package("2.0.0", whole.subarray(0, 15_000)));
  await ends(t, lamp, failed("not bootable"));
  t.deepEqual(lamp.booted, ["1.0.0"]);
  await stays(t, lamp);
});

for (const [difference, size] of [
  ["longer", SIZE - 1],
  ["shorter", SIZE + 1],
] as const)
  each(`a file one byte ${difference} than fw_size: FAILED`, async (t, shape) => {
    const lamp = lampWith(shape, { size });
    await ends(t, lamp, failed("wrong length"));
    if (shape.connections === 3) t.true(lamp.machine.fetched.bytes < 1500, "the length said enough");
    await lamp.pass(LONG);
    t.deepEqual(lamp.booted, ["1.0.0"]);
  });

each("a file that the platform never hands out: FAILED, and UPDATED when it does", async (t, shape) => {
  const lamp = lampWith(shape, {});
  lamp.platform.fault = firmwareOnly(() => ({ status: 500 }));
  await ends(t, lamp, failed("not delivered (500)"));
  lamp.platform.fault = undefined;
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
});

each("a version replaced midway: the other one is UPDATED, and none FAILED", async (t, shape) => {
  const lamp = lampWith(shape, {}, 40_000);
  atHalf(lamp, () => lamp.release("3.0.0", SIZE));
  await lamp.until(() => lamp.version === "3.0.0" && lamp.shown.state === "UPDATED");
  t.deepEqual(lamp.shown, { ...UPDATED, running: "3.0.0" });
  t.false(lamp.states.includes("FAILED"));
  t.deepEqual(lamp.booted, ["1.0.0", "3.0.0"]);
});

for (const [what, status, body, error] of [
  ["404", 404, "", "no such package (404)"],
  ["400", 400, "", "no such package (400)"],
  ["500 with a text", 500, "no", "download refused (500)"],
  ["200 without a byte", 200, "", "wrong length"],
] as const)
  each(`a ${what} midway of what is still assigned: FAILED by name, then UPDATED`, async (t, shape) => {
    const lamp = lampWith(shape, {}, 40_000);
    let requests = 0;
    lamp.platform.fault = firmwareOnly(() => (requests++ === 0 ? { breakAt: 10_000 } : { status, body }));
    await ends(t, lamp, failed(error));
    lamp.platform.fault = undefined;
    await lamp.untilState("UPDATED");
    t.deepEqual(lamp.shown, UPDATED);
  });

each("a package withdrawn midway: FAILED once, and forgotten", async (t, shape) => {
  const lamp = lampWith(shape, {}, 40_000);
  atHalf(lamp, () => lamp.assign(undefined));
  await ends(t, lamp, failed("withdrawn"));
  await stays(t, lamp);
});

each("keys that come one after the other: UPDATED, and never FAILED", async (t, shape) => {
  const lamp = new Lamp(shape);
  const target = lamp.package("2.0.0", lamp.image("2.0.0", SIZE));
  lamp.platform.setShared(lamp.device, { fw_title: "lamp", fw_version: "2.0.0" });
  lamp.machine.clock.timer(3000, () => lamp.assign(target));
  await ends(t, lamp, UPDATED);
});

// What a confirmed image that turns out bad, and a new one that spoils what is stored, do to a
// device: both stay within reach.

const OTHER_FORMAT = 99;

each("five crashes of a confirmed image: the agent reports why and takes the fix", async (t, shape) => {
  const lamp = new Lamp(shape);
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  lamp.onStart = (version) => {
    if (version === "2.0.0") lamp.machine.clock.timer(20_000, () => lamp.crash());
  };
  const starts = lamp.booted.length;
  lamp.machine.off();
  await lamp.until(() => lamp.recovering, 10 * MINUTE);
  t.is(lamp.booted.length - starts, 6, "five with the application, one without");
  const recovery = () => lamp.platform.attributes(lamp.device).moteRecovery;
  await lamp.until(() => recovery() === "it divided by zero", MINUTE);
  lamp.release("3.0.0", SIZE);
  await lamp.until(() => lamp.version === "3.0.0" && lamp.shown.state === "UPDATED", 30 * MINUTE);
  t.deepEqual(lamp.shown, { ...UPDATED, running: "3.0.0" });
  t.false(lamp.recovering);
  await lamp.until(() => recovery() === "", 5 * MINUTE);
});

each("a new image that stores another format: the old one goes on, then UPDATED", async (t, shape) => {
  const lamp = new Lamp(shape);
  lamp.onStart = (version) => {
    const { machine, booted } = lamp;
    if (version !== "2.0.0" || booted.length !== 2) return;
    for (const value of machine.store.values.values()) value[0] = OTHER_FORMAT;
    lamp.crash();
  };
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0", "2.0.0"]);
});

// Each way the trial of a new image can end.

const never = new Promise<boolean>(() => {});

for (const [how, selfTest] of [
  ["never ends", () => never],
  ["answers false", () => false],
  ["throws", () => Promise.reject(new Error("no sensor"))],
] as const)
  each(`a self test that ${how}: FAILED within 6 minutes, and not tried again`, async (t, shape) => {
    const lamp = await onTrial({ ...shape, firmware: { selfTest } });
    const since = lamp.machine.clock.now();
    await ends(t, lamp, failed("self-test failed"));
    t.true(lamp.machine.clock.now() - since < 6 * MINUTE);
    t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0"]);
    await stays(t, lamp);
  });

each("an image that the platform never accepts: FAILED after 10 minutes", async (t, shape) => {
  const lamp = await onTrial(shape, (lamp) => {
    lamp.platform.fault = () => (lamp.version === "2.0.0" ? { status: 401 } : undefined);
  });
  const since = lamp.machine.clock.now();
  await ends(t, lamp, failed("not accepted in time"));
  const took = lamp.machine.clock.now() - since;
  t.true(took >= 10 * MINUTE && took < 12 * MINUTE, `${took} ms`);
});

each("an image that crashes at once: FAILED, and condemned after its fourth start", async (t, shape) => {
  const lamp = await onTrial(shape, (lamp) => {
    lamp.onStart = (version) => version === "2.0.0" && lamp.crash();
  });
  await ends(t, lamp, failed("not confirmed (it divided by zero)"));
  const fetches = lamp.fetches.length;
  await lamp.pass(8 * 60 * MINUTE);
  t.deepEqual(lamp.shown, failed("not confirmed (it divided by zero)"));
  t.is(lamp.booted.filter((version) => version === "2.0.0").length, 4);
  t.is(lamp.fetches.length, fetches, "the slot held the image all the time");
});

for (const body of [
  ...["", "{}", '{"client":{},"shared":{}}'],
  ...['{"client":{"moteVersion":null}}', '{"client":{"moteVersion":"other"}}'],
])
  each(`a host that answers everything with 200 ${body} confirms no image`, async (t, shape) => {
    const lamp = await onTrial(shape, (lamp) => {
      lamp.platform.fault = () => (lamp.version === "2.0.0" ? { status: 200, body } : undefined);
    });
    await ends(t, lamp, failed("not accepted in time"));
    t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0"]);
  });

each("a host that repeats what the platform answered earlier confirms no image", async (t, shape) => {
  const earlier = JSON.stringify({ client: { moteVersion: `mote ${VERSION}` } });
  const lamp = await onTrial(shape, (lamp) => {
    lamp.platform.fault = ({ path }) => {
      if (lamp.version !== "2.0.0") return undefined;
      return { status: 200, body: path.includes("/attributes?") ? earlier : "" };
    };
  });
  await ends(t, lamp, failed("not accepted in time"));
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0"]);
});

each("attributes alone confirm no image: the platform must accept a point", async (t, shape) => {
  const lamp = await onTrial(shape, (lamp) => {
    lamp.platform.fault = ({ path }) =>
      lamp.version === "2.0.0" && path.endsWith("/telemetry") ? { status: 403 } : undefined;
  });
  const since = lamp.machine.clock.now();
  await ends(t, lamp, failed("not accepted in time"));
  t.true(lamp.machine.clock.now() - since < 12 * MINUTE, "polls that end by 408 are no outage");
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0"]);
});

each("a trial is not longer for an application that starts the agent again and again", async (t, shape) => {
  const lamp = await onTrial(shape, (lamp) => {
    lamp.platform.fault = ({ path }) =>
      lamp.version === "2.0.0" && path.endsWith("/telemetry") ? { status: 403 } : undefined;
  });
  for (let minutes = 0; minutes < 30 && lamp.version === "2.0.0"; minutes += 5) {
    await lamp.pass(5 * MINUTE);
    if (lamp.version !== "2.0.0") break;
    await lamp.agent.stop();
    lamp.agent.start();
  }
  t.deepEqual(lamp.booted.slice(0, 3), ["1.0.0", "2.0.0", "1.0.0"]);
});

each(
  "a failed self test is final, although the previous image cannot be selected at once",
  async (t, shape) => {
    let answers = 0;
    const lamp = await onTrial({ ...shape, firmware: { selfTest: () => answers++ > 0 } }, (lamp) => {
      const { hostOf } = lamp;
      lamp.hostOf = (host, version) => {
        const { slot } = hostOf(host, version);
        return { ...host, slot: { ...slot, revert: () => answers > 1 && slot.revert() } };
      };
    });
    await lamp.until(() => answers === 1);
    await lamp.agent.stop();
    lamp.agent.start();
    await lamp.pass(30 * MINUTE);
    t.is(answers, 1);
    t.deepEqual(lamp.booted.slice(0, 3), ["1.0.0", "2.0.0", "1.0.0"]);
  },
);

for (const seconds of [0.1, 5, 20, 59])
  each(`an image that crashes after ${seconds} s is not confirmed`, async (t, shape) => {
    const lamp = await onTrial(shape, (lamp) => {
      lamp.onStart = (version) => {
        if (version === "2.0.0") lamp.machine.clock.timer(seconds * 1000, () => lamp.crash());
      };
    });
    await lamp.untilState("FAILED", "UPDATED");
    t.is(lamp.shown.state, "FAILED");
    t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0"]);
  });

test("a trial lasts as long as trialMs, counted from the start of the image", async (t) => {
  for (const trialMs of [undefined, 5000, 600_000]) {
    const lamp = await onTrial({ connections: 3, firmware: { trialMs } });
    const since = lamp.machine.clock.now();
    await lamp.until(() => lamp.machine.state === "confirmed");
    const took = lamp.machine.clock.now() - since;
    const least = trialMs ?? MINUTE;
    t.true(took >= least && took < least + 5000, `${took} ms`);
  }
});

each("an image that confirms late: UPDATED then, and not before", async (t, shape) => {
  let pass: (good: boolean) => void = () => {};
  const selfTest = () =>
    new Promise<boolean>((resolve) => {
      pass = resolve;
    });
  const lamp = await onTrial({ ...shape, firmware: { selfTest } });
  await lamp.pass(4 * MINUTE);
  t.deepEqual(lamp.shown, { state: "UPDATING", error: "", running: "1.0.0" });
  t.is(lamp.machine.state, "pending");
  pass(true);
  await ends(t, lamp, UPDATED);
  t.is(lamp.machine.state, "confirmed");
});

each("a platform that is away for 50 minutes of the confirmation: UPDATED", async (t, shape) => {
  const lamp = await onTrial(shape, away);
  await lamp.pass(50 * MINUTE);
  t.is(lamp.machine.state, "pending");
  lamp.reachable = true;
  await ends(t, lamp, UPDATED);
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.0"]);
});

each("a platform that only the old image can reach: FAILED after an hour", async (t, shape) => {
  const lamp = await onTrial(shape, away);
  const since = lamp.machine.clock.now();
  await ends(t, lamp, failed("platform not reached"));
  t.true(lamp.machine.clock.now() - since < 62 * MINUTE);
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0"]);
});

each("a power loss during the confirmation: FAILED, then UPDATED from the slot", async (t, shape) => {
  const selfTest = () => (lamp.machine.starts === 2 ? never : true);
  const lamp: Lamp = await onTrial({ ...shape, firmware: { selfTest } });
  await lamp.pass(1000);
  const fetches = lamp.fetches.length;
  lamp.machine.off();
  await ends(t, lamp, failed("power lost on trial"));
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0", "2.0.0"]);
  t.is(lamp.fetches.length, fetches);
});

each("five power losses in a row on trial: tried again, and UPDATED", async (t, shape) => {
  let powerLosses = 0;
  const lamp = await onTrial(shape, (lamp) => {
    lamp.onStart = (version) => {
      if (version === "2.0.0" && powerLosses++ < 5)
        lamp.machine.clock.timer(powerLosses % 2, () => lamp.machine.off());
    };
  });
  await lamp.until(() => powerLosses === 6, 48 * 60 * MINUTE);
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
});

each("a platform down behind a proxy for 50 minutes of the trial: UPDATED", async (t, shape) => {
  const lamp = await onTrial(shape, (lamp) => {
    lamp.platform.fault = () => (lamp.version === "2.0.0" ? { status: 502 } : undefined);
  });
  await lamp.pass(50 * MINUTE);
  t.is(lamp.machine.state, "pending");
  lamp.platform.fault = () => undefined;
  await ends(t, lamp, UPDATED);
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.0"]);
});

test("an image that calls itself by another version gives way", async (t) => {
  const lamp = new Lamp();
  lamp.assign(lamp.package("2.0.0", lamp.image("2.0.1", SIZE)));
  await ends(t, lamp, failed("other version than assigned"));
  await stays(t, lamp);
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.1", "1.0.0"]);
});

for (const [operation, how, times] of [
  ["confirm", "fails", 3],
  ["confirm", "throws", 3],
  ["confirm", "fails", 10],
  ["confirm", "throws", 10],
  ["revert", "fails", 3],
  ["revert", "fails", 20],
] as const)
  each(`${operation} that ${how} ${times} times: tried each minute, ten times at most`, async (t, shape) => {
    const at: number[] = [];
    let left = times as number;
    const selfTest = () => operation === "confirm";
    const lamp = await onTrial({ ...shape, firmware: { selfTest } }, (lamp) => {
      lamp.machine.onOperation = (name) => {
        if (name !== operation) return true;
        at.push(lamp.machine.clock.now());
        if (left-- <= 0) return true;
        if (how === "throws") throw new Error("the flash is worn out");
        return false;
      };
    });
    await lamp.untilState("FAILED", "UPDATED");
    const isKept = operation === "confirm" && times < 10;
    const reason = operation === "confirm" ? "confirmation failed" : "self-test failed";
    t.deepEqual(lamp.shown, isKept ? UPDATED : failed(reason));
    // After ten tries to revert the device restarts, and the boot loader rolls back.
    t.deepEqual(lamp.booted, isKept ? ["1.0.0", "2.0.0"] : ["1.0.0", "2.0.0", "1.0.0"]);
    t.is(at.length, Math.min(10, times + 1));
    // A notification may bring the second try forward.
    t.true(
      at.slice(2).every((ms, i) => ms - at[i + 1]! === MINUTE),
      `${at}`,
    );
  });

each("an activation that fails once is tried again, without another download", async (t, shape) => {
  let left = 1;
  const lamp = lampWith(shape, {});
  lamp.machine.onOperation = (name) => name !== "activate" || left-- <= 0;
  await lamp.untilState("FAILED");
  const fetches = lamp.fetches.length;
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
  t.is(lamp.fetches.length, fetches);
});

// Two images of one version: only their bytes tell which one runs.

/** A lamp that runs the first build of 2.0, whose package was unassigned and deleted. */
async function ranFirst(shape: LampOptions) {
  const lamp = new Lamp(shape);
  const first = lamp.package("2.0.0", lamp.image("2.0.0", SIZE));
  lamp.assign(first);
  await lamp.untilState("UPDATED");
  lamp.assign(undefined);
  await lamp.pass(10 * MINUTE);
  lamp.platform.core.packages.delete(first);
  return { lamp, first };
}

each("a rebuilt image of the same version is downloaded, and UPDATED by its checksum", async (t, shape) => {
  const { lamp, first } = await ranFirst(shape);
  t.is(lamp.latest("current_fw_checksum"), first.checksum);
  const rebuilt = lamp.package("2.0.0", lamp.image("2.0.0", SIZE + 5000));
  lamp.assign(rebuilt);
  await lamp.until(() => lamp.latest("current_fw_checksum") === rebuilt.checksum);
  t.deepEqual(lamp.shown, UPDATED);
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "2.0.0"]);
  await stays(t, lamp);
});

each("the running bytes, assigned with a checksum by another algorithm: UPDATED", async (t, shape) => {
  const { lamp } = await ranFirst(shape);
  lamp.assign(lamp.package("2.0.0", lamp.images.get("2.0.0")!, { algorithm: "MD5" }));
  await lamp.until(() => lamp.booted.length === 3);
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
  await stays(t, lamp);
});

each("a rebuilt image that fails its trial: FAILED by the image before", async (t, shape) => {
  const { lamp, first } = await ranFirst(shape);
  const before = lamp.images.get("2.0.0")!;
  const rebuilt = lamp.package("2.0.0", lamp.image("2.0.0", SIZE + 5000));
  lamp.assign(rebuilt);
  lamp.onStart = () => {
    if (lamp.machine.state !== "pending") return;
    lamp.images.set("2.0.0", before);
    lamp.crash();
  };
  await lamp.untilState("FAILED");
  t.is(lamp.latest("current_fw_checksum"), first.checksum);
  t.is(lamp.latest("fw_error"), "not confirmed (it divided by zero)");
});

for (const when of ["before", "after"] as const)
  each(`the power fails ${when} a rebuilt image is confirmed: UPDATED once it runs`, async (t, shape) => {
    const { lamp } = await ranFirst(shape);
    const before = lamp.images.get("2.0.0")!;
    const after = lamp.image("2.0.0", SIZE + 5000);
    const rebuilt = lamp.package("2.0.0", after);
    lamp.assign(rebuilt);
    let confirmations = 0;
    lamp.machine.onOperation = (name) => {
      if (name === "confirm") confirmations++;
      if (name === "activate") lamp.images.set("2.0.0", after);
      if (confirmations !== 1 || (when === "after" && lamp.machine.state === "pending")) return;
      confirmations++;
      lamp.images.set("2.0.0", when === "after" ? after : before);
      lamp.machine.off();
    };
    await lamp.until(() => confirmations > 1);
    const shown = lamp.states.length;
    await lamp.until(() => lamp.states.slice(shown).includes("UPDATED"));
    t.is(lamp.latest("current_fw_checksum"), rebuilt.checksum);
    t.is(lamp.states.slice(shown).includes("FAILED"), when === "before");
    t.is(lamp.machine.lengths[lamp.machine.active], after.length);
    await stays(t, lamp);
  });

each("a flashed image knows no checksum, and downloads no image of its version", async (t, shape) => {
  const lamp = new Lamp(shape);
  lamp.assign(lamp.package("1.0.0", new Uint8Array(SIZE)));
  await lamp.untilState("UPDATED");
  t.is(lamp.latest("current_fw_checksum"), "");
  t.is(lamp.fetches.length, 0);
});
