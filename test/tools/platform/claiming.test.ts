import test from "ava";
import { createRig, type Rig } from "./rig.js";

const claim = (rig: Rig, secret: string): string =>
  rig.core.claiming.claim(rig.device, "the-customer", secret);

test(`the customer with the device's secret gets it, the next one does not`, (t) => {
  const rig = createRig();
  t.is(claim(rig, "s"), "FAILURE");
  t.is(rig.call("POST", "claim", '{"secretKey":"s","durationMs":60000}').status, 200);
  t.is(claim(rig, "s"), "SUCCESS");
  t.is(rig.device.customerId, "the-customer");
  t.is(claim(rig, "s"), "CLAIMED");
  t.is(rig.call("POST", "claim", '{"secretKey":"s"}').status, 200);
  t.is(claim(rig, "s"), "CLAIMED");
});

test(`without a body the secret is empty and the claim lasts a day`, (t) => {
  const rig = createRig();
  t.is(rig.call("POST", "claim").status, 200);
  rig.clock.advance(86_399_000);
  t.is(claim(rig, ""), "SUCCESS");
});

test(`a bad body is refused`, (t) => {
  const rig = createRig();
  const refusal = 500;
  const answers = ["[]", " ", '{"secretKey":null}', '{"durationMs":"soon"}', '{"durationMs":{}}'].map(
    (body) => rig.call("POST", "claim", body),
  );
  t.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => refusal),
  );
  t.deepEqual(
    answers.map(({ text }) => text !== ""),
    [true, true, false, false, false],
  );
});

test("a wrong secret voids the claim", (t) => {
  const rig = createRig();
  rig.call("POST", "claim", '{"secretKey":"s"}');
  t.is(claim(rig, "wrong"), "FAILURE");
  t.is(claim(rig, "s"), "FAILURE");
});

test("the first secret stays, whatever the device sends after it", (t) => {
  const rig = createRig();
  rig.call("POST", "claim", '{"secretKey":"first"}');
  rig.call("POST", "claim", '{"secretKey":"second"}');
  t.is(claim(rig, "first"), "SUCCESS");
});

test("a claim that is over fails", (t) => {
  const rig = createRig();
  rig.call("POST", "claim", '{"secretKey":"s","durationMs":"1000"}');
  rig.clock.advance(1_001);
  t.is(claim(rig, "s"), "FAILURE");
});

test("a device taken back can be claimed again", (t) => {
  const rig = createRig();
  rig.call("POST", "claim", '{"secretKey":"s"}');
  claim(rig, "s");
  rig.core.claiming.reclaim(rig.device);
  t.is(rig.device.customerId, undefined);
  rig.call("POST", "claim", '{"secretKey":"t"}');
  t.is(claim(rig, "t"), "SUCCESS");
});
