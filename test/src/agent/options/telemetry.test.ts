import test from "ava";
import { checkRules } from "../../../../src/agent/options/rules.js";
import {
  TELEMETRY,
  type TelemetryOptions,
  telemetrySettings,
} from "../../../../src/agent/options/telemetry.js";

function checkTelemetryOptions(options: TelemetryOptions): string[] {
  const wrong: string[] = [];
  checkRules("telemetry.", options, TELEMETRY, wrong);
  return wrong;
}

test("the defaults are as documented", (t) => {
  t.deepEqual(telemetrySettings({}), {
    timestamps: "device",
    batchPoints: 50,
    batchBytes: 8192,
    batchAgeMs: 1000,
    bufferBytes: 16_384,
    durable: true,
    drop: "oldest",
  });
});

test("options within their limits are fine", (t) => {
  t.deepEqual(checkTelemetryOptions({}), []);
  t.deepEqual(
    checkTelemetryOptions({ batchPoints: 1, drop: "newest", durable: false, batchAgeMs: undefined }),
    [],
  );
});

test("every wrong option is reported, by name", (t) => {
  const wrong = {
    batchPoints: 0,
    batchBytes: 1.5,
    timestamps: "server",
    durable: "yes",
    batchPionts: 3,
    drop: 1,
  };
  const reported = checkTelemetryOptions(wrong as never);
  t.is(reported.length, 6);
  for (const name of Object.keys(wrong))
    t.true(
      reported.some((line) => line.includes(name)),
      name,
    );
});

test("names that every object has are no options", (t) => {
  t.is(checkTelemetryOptions(JSON.parse('{"__proto__": 1, "constructor": 2}')).length, 2);
});
