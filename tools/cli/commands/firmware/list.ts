// `mote firmware list`: lists OTA packages.

import type { Command } from "commander";
import type { Operator } from "../../../operator/operator.js";
import { allPages } from "../../../operator/pages.js";
import type { OtaPackage } from "../../../operator/shapes.js";
import { type OperatorFlags, operate, operatorOptions } from "../../operator/operator.js";
import { size } from "../../output/size.js";
import { moment, note, out, outJson, plain, table } from "../../output/table.js";

interface ListFlags extends OperatorFlags {}

/** `bytes` is null before the upload, and for a package at an external URL. */
interface ShownPackage {
  id: string;
  title: string;
  version: string;
  type: string;
  bytes: number | null;
  checksum: string | null;
  algorithm: string | null;
  createdTime: number | null;
}

export function listCommand(firmware: Command): void {
  operatorOptions(firmware.command("list").description("list firmware packages"))
    .argument("[text]", "part of the title")
    .action((text: string | undefined, flags: ListFlags) =>
      operate(flags, async (operator) => {
        const shown = (await allPackages(operator, text)).map(show);
        if (flags.json) outJson(shown);
        else if (shown.length > 0)
          out(table(["TITLE", "VERSION", "TYPE", "SIZE", "CREATED"], shown.map(rowOf)));
        else if (text !== undefined) note(`No package matches "${plain(text)}".`);
        else note("No packages (upload one: mote firmware push FILE).");
      }),
    );
}

export const allPackages = ({ ota }: Operator, textSearch: string | undefined): Promise<OtaPackage[]> =>
  allPages((page) => ota.list({ page, textSearch }));

function show(found: OtaPackage): ShownPackage {
  const { id, title, version, type, dataSize, checksum, checksumAlgorithm, createdTime } = found;
  return {
    id: id.id,
    title,
    version,
    type,
    bytes: typeof dataSize === "number" ? dataSize : null,
    checksum: checksum ?? null,
    algorithm: checksumAlgorithm ?? null,
    createdTime: typeof createdTime === "number" ? createdTime : null,
  };
}

function rowOf({ title, version, type, bytes, createdTime }: ShownPackage): unknown[] {
  return [title, version, type.toLowerCase(), bytes === null ? undefined : size(bytes), moment(createdTime)];
}
