// Mutants of: whom a device trusts over TLS.
import type { Mutant } from "./mutant.js";

const TRUST = "Whom it trusts over TLS can be renewed";
const FOLDER = "hosts/shared/trust";
const CHANGES = "hosts/shared/trust/changes.test.js";
const REFUSED = "hosts/shared/trust/refused.test.js";

export const trust: readonly Mutant[] = [
  {
    name: "an announcement may be signed by anybody",
    promise: TRUST,
    file: `${FOLDER}/trust.ts`,
    find: "if (isSigned) this._signed = digest;\n    return isSigned;",
    replace: 'this._signed = isSigned ? digest : "";\n    return true;',
    tests: [REFUSED],
  },
  {
    name: "a signature for firmware passes for an announcement's",
    promise: TRUST,
    file: `${FOLDER}/announcement.ts`,
    find: "return text;\n};\n\n/** The value of the attribute",
    replace: "return text.slice(MARK.length);\n};\n\n/** The value of the attribute",
    tests: [REFUSED],
  },
  {
    name: "an older announcement is taken again",
    promise: TRUST,
    file: `${FOLDER}/trust.ts`,
    find: "if (announced.sequence < sequence)",
    replace: "if (announced.sequence < 0)",
    tests: [REFUSED],
  },
  {
    name: "a certificate need not be the one that was signed",
    promise: TRUST,
    file: `${FOLDER}/trust.ts`,
    find: "if (sha256(this._keeper, der) !== one.sha256)",
    replace: "if (der.length !== one.bytes)",
    tests: [REFUSED],
  },
  {
    name: "a certificate that is over is kept",
    promise: TRUST,
    file: `${FOLDER}/authority.ts`,
    find: "now !== undefined && end < now",
    replace: "now === undefined && end < 0",
    tests: [REFUSED],
  },
  {
    name: "an authority is dropped before a handshake without it succeeded",
    promise: TRUST,
    file: `${FOLDER}/trust.ts`,
    find: "const problem = await this._handshake(waiting, []);",
    replace: "const problem = waiting.length > 0 ? undefined : await this._handshake(waiting, []);",
    tests: [CHANGES],
  },
  {
    name: "an authority is kept before a handshake with it succeeded",
    promise: TRUST,
    file: `${FOLDER}/trust.ts`,
    find: "const problem = fresh.length > 0 ? await",
    replace: "const problem = fresh.length < 0 ? await",
    tests: [CHANGES],
  },
  {
    name: "a damaged certificate is trusted",
    promise: TRUST,
    file: `${FOLDER}/kept.ts`,
    find: "return der && sha256(keeper, der) === id ? { id, der } : undefined;",
    replace: "return der ? { id, der } : undefined;",
    tests: [CHANGES],
  },
];
