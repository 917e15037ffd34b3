// What `mote fleet` leaves on the platform: nothing, where it can.
import { OperatorError } from "../../../operator/error.js";
import type { Operator } from "../../../operator/operator.js";
import { devicesBeginning } from "../../operator/find.js";
import { eachOf } from "../../operator/operator.js";
import { note } from "../../output/table.js";

interface Made {
  prefix: string;
  /** Devices that the platform took. */
  made: number;
  keep: boolean | undefined;
}

const AT_A_TIME = 8;

/** True if nothing is left that should not be. Says what is, and how it goes. */
export async function removeDevices(
  operator: Operator | undefined,
  { prefix, made, keep }: Made,
  kill: AbortSignal,
): Promise<boolean> {
  if (made === 0) return true;
  const later = `mote devices delete --prefix ${prefix}`;
  if (keep || !operator) {
    note(`${made} devices stay on the platform${keep ? "" : " (no operator's login)"}: ${later}`);
    return true;
  }
  let removed = 0;
  try {
    await eachOf(await devicesBeginning(operator, prefix), AT_A_TIME, async ({ id }) => {
      if (kill.aborted) return;
      await operator.devices.delete(id.id);
      removed++;
    });
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    note(error.message);
  }
  note(
    `Removed ${removed} of the ${made} devices that it made${removed < made ? `; the others: ${later}` : "."}`,
  );
  return removed >= made;
}
