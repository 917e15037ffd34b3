// What is refused on a board whose flash may be encrypted: plain text written there does not start.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { findEsptool } from "../../../../tools/moddable/flash/esptool.js";
import { findFirmware, nvsOf } from "../../../../tools/moddable/flash/firmware.js";
import { flashBoard } from "../../../../tools/moddable/flash/flash-board.js";
import { ReturningPort } from "../../../../tools/moddable/flash/returning-port.js";
import { SdkError } from "../../../../tools/moddable/sdk.js";
import { fakeEsptool, ROWS, tableOf, writeBuild } from "./board.js";

const PORT = "socket://127.0.0.1:1";

interface Place {
  readonly home: string;
  readonly calls: string;
  flash(erase?: boolean): Promise<{ table: string; asked: string }>;
}

function place(t: ExecutionContext, table: Buffer, offset?: string): Place {
  const home = mkdtempSync(join(tmpdir(), "mote-encrypted-"));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, "table"), table);
  const calls = fakeEsptool(home, { table: join(home, "table") });
  const folder = writeBuild(home, { chip: "esp32c3" });
  if (offset !== undefined) {
    const args = join(folder, "flash_args");
    writeFileSync(args, readFileSync(args, "utf8").replace("0x8000 ", `${offset} `));
  }
  const flash = async (erase = false) => {
    const esptool = await findEsptool({ PATH: home });
    let asked = "";
    const { table: found } = await flashBoard(esptool, findFirmware(home), {
      cable: new ReturningPort(PORT, () => {}),
      baud: 460_800,
      erase,
      aside: true,
      say: () => {},
      confirm: async (question) => {
        asked = question;
      },
    });
    return { table: found, asked };
  };
  return { home, calls, flash };
}

test("refuses an unreadable partition table and says what an encrypted board needs", async (t) => {
  const { flash, calls } = place(t, randomBytes(0xc00));
  await t.throwsAsync(flash(), {
    instanceOf: SdkError,
    message: /encrypted.*Nothing was written.*over the air/,
  });
  t.notRegex(readFileSync(calls, "utf8"), /write-flash/);
});

test("erases a board whose partition table can't be read only after it asked", async (t) => {
  const { table, asked } = await place(t, randomBytes(0xc00)).flash(true);
  t.is(table, "unknown");
  t.regex(asked, /If its flash is encrypted, it does not start afterwards/);
});

test("takes a build with its table elsewhere for another table", async (t) => {
  const { flash } = place(t, tableOf(ROWS), "0xf000");
  await t.throwsAsync(flash(), { instanceOf: SdkError, message: /the table itself: 0x8000 -> 0xf000/ });
});

test("makes no NVS for a protected build, and says how such a board is commissioned", (t) => {
  const { home } = place(t, tableOf(ROWS), "0xf000");
  t.throws(() => nvsOf(findFirmware(home), undefined), {
    instanceOf: SdkError,
    message: /--encrypt.*Commission/,
  });
});
