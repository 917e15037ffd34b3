import { Operator } from "../../tools/operator/operator.js";

/** An operator by a login of the demo data. */
export async function operatorOf({ url }: { readonly url: string }, name = "tenant"): Promise<Operator> {
  const operator = new Operator({ url });
  await operator.login(`${name}@thingsboard.org`, name);
  return operator;
}
