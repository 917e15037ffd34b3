// Uploads an image as an OTA package.
import { basename } from "node:path";
import type { Operator } from "../../../operator/operator.js";
import type { DeviceProfile, OtaPackage } from "../../../operator/shapes.js";
import { ALGORITHMS, checksum } from "../../../platform/core/ota/checksum.js";
import { ExitError } from "../../exit-error.js";
import { note, plain, quoted } from "../../output/table.js";
import { readInput, UsageError } from "../../usage.js";

const ALGORITHM = "SHA256" as const;

export interface Image {
  path: string;
  bytes: Uint8Array;
  flags: { title: string; version: string };
}

/** The package of that title and version. Throws ExitError unless it is this image's. */
export async function knownPackage(
  { ota, profiles }: Operator,
  profileId: string,
  { path, bytes, flags: { title, version } }: Image,
): Promise<OtaPackage | undefined> {
  const there = await ota.find(title, version);
  if (!there) return undefined;
  const name = `${plain(title)} ${plain(version)}`;
  const owner = there.deviceProfileId?.id;
  if (owner !== undefined && owner !== profileId) {
    const [its, other] = (await Promise.all([owner, profileId].map((id) => profiles.get(id)))).map(
      (profile: DeviceProfile) => quoted(profile.name),
    );
    throw new ExitError(1, `${name} is a package of the profile ${its}, not of ${other}: use a new version`);
  }
  if (!there.hasData) return there;
  const { checksumAlgorithm = ALGORITHM } = there;
  const known = ALGORITHMS.find((one) => one === checksumAlgorithm);
  if (!known)
    throw new ExitError(
      1,
      `${name} has a checksum that devices refuse (${plain(checksumAlgorithm)}): use a new version`,
    );
  const sum = checksum(known, bytes);
  if (there.checksum?.toLowerCase() === sum && there.dataSize === bytes.length) return there;
  const its = there.checksum ? `${known} ${there.checksum}, ${there.dataSize} bytes` : "no checksum";
  throw new ExitError(
    1,
    `the platform has other bytes as ${name}: ${its}; ${path}: ${known} ${sum}, ${bytes.length} bytes (use a new version)`,
  );
}

/** Uploads the image, unless the known package holds it. */
export async function uploaded(
  { ota }: Operator,
  profileId: string,
  { path, bytes, flags: { title, version } }: Image,
  known: OtaPackage | undefined,
): Promise<OtaPackage> {
  if (known?.hasData) {
    note(`${plain(title)} ${plain(version)} is already on the platform.`);
    return known;
  }
  const entry = known ?? (await ota.create({ title, version, deviceProfileId: profileId }));
  note(`upload of ${bytes.length} bytes`);
  const sum = checksum(ALGORITHM, bytes);
  return ota.upload(entry.id.id, bytes, { fileName: basename(path), algorithm: ALGORITHM, checksum: sum });
}

export function load(path: string): Uint8Array {
  const bytes = readInput(path);
  if (bytes.length === 0) throw new UsageError(`${path} is empty`);
  return bytes;
}
