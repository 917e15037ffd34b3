// Certificates for tests, made by openssl when they are needed, and gone with the test.
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Issued {
  readonly cert: string;
  readonly key: string;
  readonly certPath: string;
  readonly keyPath: string;
}

export const der = ({ cert }: Issued): Uint8Array => new Uint8Array(new X509Certificate(cert).raw);

/** As a server shows it. */
export const identityOf = (chain: readonly Issued[]): { cert: string; key: string } => ({
  cert: chain.map(({ cert }) => cert).join(""),
  key: chain[0]!.key,
});

export interface Wanted {
  /** subjectAltName. */
  names?: string;
  /** basicConstraints; none without. */
  constraints?: string;
  /** Days from now, when it begins and when it ends. */
  days?: readonly [from: number, to: number];
  /** With the key of this one, in place of a key of its own. */
  keyOf?: Issued;
  more?: string;
}

const DAY = 86_400_000;
const stamp = (day: number): string =>
  new Date(Date.now() + day * DAY).toISOString().replace(/[-:T]|\.\d+/g, "");

export class Authorities {
  readonly #directory = mkdtempSync(join(tmpdir(), "mote-x509-"));
  #count = 0;

  /** Signed by `issuer`, or by itself. */
  issue(subject: string, issuer: Issued | undefined, wanted: Wanted = {}): Issued {
    const n = ++this.#count;
    const at = (suffix: string): string => join(this.#directory, `${n}${suffix}`);
    const [keyPath, certPath, request, extensions] = [at(".key"), at(".pem"), at(".csr"), at(".ext")];
    if (wanted.keyOf) writeFileSync(keyPath, wanted.keyOf.key);
    else this.#openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", keyPath);
    this.#openssl("req", "-new", "-key", keyPath, "-subj", `/CN=${subject}`, "-out", request);
    const { names, constraints, days: [from, to] = [-1, 30], more = "" } = wanted;
    const lines = [
      ...(names ? [`subjectAltName=${names}`] : []),
      ...(constraints ? [`basicConstraints=${constraints}`] : []),
      "subjectKeyIdentifier=hash",
      // The SDK's TLS finds a CA by it.
      "authorityKeyIdentifier=keyid",
      more,
    ];
    writeFileSync(extensions, lines.join("\n"));
    writeFileSync(at(".index"), "");
    writeFileSync(at(".serial"), "0123456789ABCDEF01\n");
    const config = at(".cnf");
    writeFileSync(
      config,
      `[ca]\ndefault_ca=own\n[own]\ndatabase=${at(".index")}\nserial=${at(".serial")}\nnew_certs_dir=${this.#directory}\ndefault_md=sha256\npolicy=any\nunique_subject=no\n[any]\ncommonName=supplied\n`,
    );
    const by = issuer
      ? ["-cert", issuer.certPath, "-keyfile", issuer.keyPath]
      : ["-selfsign", "-keyfile", keyPath];
    this.#openssl(
      ...["ca", "-batch", "-notext", "-config", config, "-in", request, "-out", certPath],
      ...["-startdate", stamp(from), "-enddate", stamp(to), "-extfile", extensions, ...by],
    );
    const read = (path: string): string => readFileSync(path, "utf8");
    return { cert: read(certPath), key: read(keyPath), certPath, keyPath };
  }

  /** One that was issued elsewhere. */
  adopt(cert: string, key: string): Issued {
    const n = ++this.#count;
    const [keyPath, certPath] = [join(this.#directory, `${n}.key`), join(this.#directory, `${n}.pem`)];
    writeFileSync(keyPath, key);
    writeFileSync(certPath, cert);
    return { cert, key, certPath, keyPath };
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    this.remove();
  }

  #openssl(...words: string[]): void {
    execFileSync("openssl", words, { stdio: "pipe" });
  }
}
