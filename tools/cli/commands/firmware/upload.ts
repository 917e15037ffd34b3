// Uploads an image as an OTA package.
import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { Operator } from "../../../operator/operator.js";
import type { Algorithm, OtaPackage } from "../../../operator/shapes.js";
import { ExitError } from "../../exit-error.js";
import { bar, Progress } from "../../output/progress.js";
import { note, plain } from "../../output/table.js";
import { readInput, UsageError } from "../../usage.js";

export interface Image {
  path: string;
  bytes: Uint8Array;
  flags: { title: string; version: string; algorithm: Algorithm };
}

/** Uploads the image, unless it is there. Throws ExitError if the version has other content. */
export async function uploaded(
  { ota }: Operator,
  profileId: string,
  { path, bytes, flags }: Image,
): Promise<OtaPackage> {
  const { title, version, algorithm } = flags;
  const checksum = digest(algorithm, bytes);
  const { data } = await ota.list({ textSearch: title });
  const there = data.find((one) => one.title === title && one.version === version && one.type === "FIRMWARE");
  if (there?.hasData) {
    const known = there.checksumAlgorithm ?? algorithm;
    if (there.checksum?.toLowerCase() === digest(known, bytes) && there.dataSize === bytes.length) {
      note(`${plain(title)} ${plain(version)} is already on the platform.`);
      return there;
    }
    throw new ExitError(
      1,
      `the platform has a different image as ${plain(title)} ${plain(version)}: use a new version`,
    );
  }
  const entry = there ?? (await ota.create({ title, version, deviceProfileId: profileId }));
  const progress = new Progress();
  const onSent = (sent: number): void =>
    progress.show([`${bar(sent / bytes.length)}  upload`], [`upload of ${bytes.length} bytes`]);
  const upload = { fileName: basename(path), algorithm, onSent, ...(checksum !== undefined && { checksum }) };
  return ota.upload(entry.id.id, bytes, upload);
}

/** Lower-case hex; undefined for algorithms that the platform computes. */
function digest(algorithm: Algorithm, bytes: Uint8Array): string | undefined {
  if (algorithm.startsWith("SHA") || algorithm === "MD5")
    return createHash(algorithm.toLowerCase()).update(bytes).digest("hex");
  return undefined;
}

export function load(path: string): Uint8Array {
  const bytes = readInput(path);
  if (bytes.length === 0) throw new UsageError(`${path} is empty`);
  return bytes;
}
