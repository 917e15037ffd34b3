// An application whose 1.0.0 ends the machine soon after its start, and whose 2.0.0 is well.
export default function setUp(_agent, host) {
  if (host.settings.version !== "1.0.0") return;
  host.clock.timer(200, () => {
    throw new RangeError("the sensor is gone");
  });
}
