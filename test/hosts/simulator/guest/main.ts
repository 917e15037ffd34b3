// Where the test is stands in a file.
import files from "embedded:storage/files";
import { createHost, type SimulatorHost } from "mote-simulator";
import { Guest } from "./guest.js";

const SECTORS = 16 * 4096;

interface Setup {
  readonly control: number;
  readonly authorities: readonly string[];
}

function begin({ control, authorities }: Setup): void {
  const trusted = authorities.map((text) => Uint8Array.fromBase64(text));
  const make = (): SimulatorHost =>
    createHost(files, { authorities: trusted, blocksBytes: SECTORS, slotBytes: SECTORS, log: () => {} });
  let host = make();
  const stop = () => {
    host.close();
    return () => {
      host = make();
      return host;
    };
  };
  new Guest({ host, control: { name: "127.0.0.1", port: control }, stop });
}

const file = files.openFile({ path: "guest.json" });
const bytes = new Uint8Array(file.status().size);
file.read(bytes, 0);
file.close();
begin(JSON.parse(String.fromArrayBuffer(bytes.buffer)));
