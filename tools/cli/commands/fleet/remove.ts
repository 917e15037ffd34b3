// Deletes the devices of `mote fleet`.
import { OperatorError } from "../../../operator/error.js";
import type { Operator } from "../../../operator/operator.js";
import { devicesBeginning } from "../../operator/find.js";
import { eachOf } from "../../operator/operator.js";
import { note } from "../../output/table.js";

interface Made {
  prefix: string;
  /** Number of provisioned devices. */
  made: number;
  keep: boolean | undefined;
}

/** Deletes the devices. True if none is left, or if they are to stay. */
export async function removeDevices(
  operator: Operator | undefined,
  { prefix, made, keep }: Made,
  kill: AbortSignal,
): Promise<boolean> {
  if (made === 0) return true;
  const later = `mote devices delete --prefix ${prefix}`;
  if (keep || !operator) {
    note(`${made} devices stay on the platform${keep ? "" : " (not logged in)"}. Delete them: ${later}`);
    return true;
  }
  let removed = 0;
  try {
    await eachOf(await devicesBeginning(operator, prefix), async ({ id }) => {
      if (kill.aborted) return;
      await operator.devices.delete(id.id);
      removed++;
    });
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    note(error.message);
  }
  note(`Deleted ${removed} of ${made} devices.${removed < made ? ` Delete the others: ${later}` : ""}`);
  return removed >= made;
}
