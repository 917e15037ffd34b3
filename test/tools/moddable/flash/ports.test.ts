// Which port, and whether it is ours to use.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { checkPort, choosePort, listPorts, usersOf } from "../../../../tools/moddable/flash/ports.js";
import { SdkError } from "../../../../tools/moddable/sdk.js";

const dev = mkdtempSync(join(tmpdir(), "mote-dev-"));
test.after.always(() => rmSync(dev, { recursive: true, force: true }));
for (const name of ["ttyUSB0", "ttyACM1", "ttyS0", "cu.usbserial-1", "cu.Bluetooth"])
  writeFileSync(join(dev, name), "");
mkdirSync(join(dev, "serial", "by-id"), { recursive: true });
symlinkSync("../../ttyUSB0", join(dev, "serial", "by-id", "usb-Silicon_Labs_CP2102_0001-if00-port0"));

test("ports of boards are found, with the name of the device where the system has it", (t) => {
  t.deepEqual(listPorts("linux", dev), [
    { path: join(dev, "ttyACM1") },
    { path: join(dev, "ttyUSB0"), title: "Silicon Labs CP2102 0001" },
  ]);
  t.deepEqual(listPorts("darwin", dev), [{ path: join(dev, "cu.usbserial-1") }]);
  t.is(listPorts("win32", dev), undefined);
});

test("the only port is taken, several are named, none says what to do", (t) => {
  t.is(choosePort(undefined, [{ path: "/dev/a" }]), "/dev/a");
  t.is(choosePort("/dev/b", []), "/dev/b");
  t.throws(() => choosePort(undefined, [{ path: "/dev/a", title: "CP2102" }, { path: "/dev/b" }]), {
    instanceOf: SdkError,
    message: "there are several ports, and --port says which:\n  /dev/a  CP2102\n  /dev/b",
  });
  t.throws(() => choosePort(undefined, []), { message: /data lines.*BOOT/ });
  t.throws(() => choosePort(undefined, undefined), { message: /--port/ });
});

test("a port that is missing, not ours or in use is said, and an address is nobody's file", (t) => {
  t.throws(() => checkPort(join(dev, "ttyUSB9"), listPorts("linux", dev)), {
    message: /no port .*ttyUSB9.*CP2102/s,
  });
  t.throws(() => checkPort(join(dev, "ttyUSB9"), []), { message: /none is there/ });
  t.notThrows(() => checkPort("socket://127.0.0.1:1"));
  t.notThrows(() => checkPort(join(dev, "ttyUSB0")));
  if (process.getuid?.() === 0) return;
  chmodSync(join(dev, "ttyS0"), 0o000);
  t.throws(() => checkPort(join(dev, "ttyS0")), { message: /dialout/ });
});

(process.platform === "linux" ? test : test.skip)(
  "who has the port open is named, and goes on",
  async (t) => {
    const port = join(dev, "ttyACM1");
    const other = spawn("sleep", ["60"], { stdio: [openSync(port, "r+"), "ignore", "ignore"] });
    t.teardown(() => other.kill());
    await new Promise((go) => other.once("spawn", go));
    // The program in it may not be there yet: its id is.
    const users = usersOf(port);
    t.is(users.length, 1);
    t.regex(users[0]!, new RegExp(`\\(process ${other.pid}\\)$`));
    t.throws(() => checkPort(port), { message: new RegExp(`in use by .*process ${other.pid}.*End it`) });
    t.is(other.exitCode, null);
    t.deepEqual(usersOf(join(dev, "ttyUSB0")), []);
  },
);
