// The whole agent in the simulator while its platform's CA is replaced: on XS, by the SDK's TLS.
import { generateKeyPairSync } from "node:crypto";
import type { AddressInfo } from "node:net";
import type { Server } from "node:tls";
import { signImage } from "../../../tools/cli/commands/sign.js";
import { announce, piecesOf } from "../../../tools/cli/commands/trust/announce.js";
import { type TrustState, trustOf } from "../../../tools/cli/commands/trust/targets.js";
import { Authorities, der, type Issued } from "../../extras/trust/x509/authority.js";
import { tlsFront } from "../shared/tls-front.js";
import { DEVICE, idOf, openBench, until } from "./bench.js";
import { inSimulator, programOf } from "./rig.js";

const CA = "critical,CA:TRUE";

inSimulator(
  "an authority is announced, shown, and the old one is dropped; a stranger's is refused",
  async (t) => {
    const made = new Authorities();
    t.teardown(() => made.remove());
    const [first, second, stranger] = ["first", "second", "first"].map((name) =>
      made.issue(name, undefined, { constraints: CA, days: [-1, 3650] }),
    ) as [Issued, Issued, Issued];
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    let [server, port, platformPort]: [Server | undefined, number, number] = [undefined, 0, 0];
    // The SDK's TLS needs an intermediate certificate.
    const shows = async (ca: Issued): Promise<void> => {
      server?.close();
      const between = made.issue("between", ca, { constraints: CA, days: [-1, 3650] });
      const { cert, key } = made.issue("server", between, { names: "DNS:localhost", days: [-1, 3650] });
      server = await tlsFront({ cert: cert + between.cert, key }, platformPort, port);
      port = (server.address() as AddressInfo).port;
    };
    t.teardown(() => server?.close());
    const { device, operator, events } = await openBench(t, await programOf("hosts/simulator/program"), {
      secure: async (to) => {
        platformPort = to;
        await shows(first);
        return { url: `https://localhost:${port}`, ca: first.cert };
      },
      agent: {
        firmware: {
          title: "sample",
          version: "1.0.0",
          publicKey: signImage(privateKey, new Uint8Array()).publicKey,
        },
      },
    });
    void device.start();
    const id = await idOf(operator);
    const push = async (
      ca: Uint8Array[],
      drop: string[],
      is: (state: TrustState) => boolean,
    ): Promise<void> => {
      const { moteTrust } = await operator.attributes.get(id, "SHARED_SCOPE", ["moteTrust"]);
      const made = announce(moteTrust, { product: "sample", certificates: ca, drop }, privateKey);
      for (const [name, piece] of Object.entries(piecesOf(made, ca)))
        await operator.attributes.set(id, "SHARED_SCOPE", { [name]: piece });
      await operator.attributes.set(id, "SHARED_SCOPE", { moteTrust: made });
      await until("the announcement is taken", 60_000, async () => {
        const state = await trustOf(operator, { id, name: DEVICE });
        return (state?.sequence === made.sequence && is(state)) || undefined;
      });
    };
    const restarts = async (ca: Issued): Promise<boolean> => {
      await device.cut();
      await shows(ca);
      const seen = events.length;
      void device.start();
      return until("online", 15_000, () =>
        events.slice(seen).some(({ event }) => event === "online") ? true : undefined,
      ).catch(() => false);
    };
    await push([der(second)], [], ({ trusts }) => trusts.length === 2);
    t.true(await restarts(second));
    await push([], ["old"], ({ trusts, waiting }) => trusts.length === 1 && waiting.length === 0);
    t.false(await restarts(first), "what was dropped");
    t.false(await restarts(stranger), "a stranger");
    t.true(await restarts(second));
  },
);
