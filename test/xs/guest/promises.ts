// Runs one of the port's promises on XS. The peers that it needs live in the parent.
import { MANY, MUCH, type Peer, type PeerScript, type Place, type Tools } from "../../hosts/port/promised.js";
import { PROMISES } from "../../hosts/port/promises.js";
import { askParent, type FromParent, host, makeHost } from "./host.js";

const decoder = new TextDecoder();
const scripts = new Map<number, PeerScript>();
const listening = new Map<number, (place: Place) => void>();
const peers = new Map<number, { peer: Peer; script: PeerScript }>();
let ids = 0;

const makePeer = (id: number): Peer => ({
  write: (bytes) => void askParent("write", id, bytes),
  end: () => void askParent("end", id),
  reset: () => void askParent("reset", id),
  hold: () => void askParent("hold", id),
  release: () => void askParent("release", id),
});

/** A place from the parent, which notifies it when it has it. */
function place(what: string, script: PeerScript): Promise<Place> {
  const id = ++ids;
  scripts.set(id, script);
  return new Promise((resolve) => {
    listening.set(id, resolve);
    askParent(what, id);
  });
}

const fromParent: FromParent = (what, id, bytes) => {
  if (what === "place") {
    listening.get(id)?.(JSON.parse(decoder.decode(bytes)));
  } else if (what === "opened") {
    const script = scripts.get(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0))!;
    const peer = makePeer(id);
    peers.set(id, { peer, script });
    script.opened?.(peer);
  } else if (what === "bytes") {
    const { peer, script } = peers.get(id)!;
    script.bytes?.(peer, bytes);
  } else {
    scripts.get(id)?.closed?.();
  }
};

const tools: Required<Tools> = {
  listen: (script) => place("listen", script),
  nowhere: () => place("nowhere", {}),
  bytes: MUCH,
  sockets: MANY,
  unknown: { name: "nobody.invalid", port: 80, secure: false },
  async restart() {
    askParent("restart", 0);
    return makeHost();
  },
};

async function keeps(title: string): Promise<void> {
  await PROMISES.find((promised) => promised.title === title)!.run(host, tools);
}

Object.assign(globalThis, { fromParent, keeps });
