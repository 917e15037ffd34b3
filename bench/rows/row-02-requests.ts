// The same points at 50 a batch, which is the default, against one POST a point as the usual clients do, kept as lean as Mote's own: same head, one
// connection. Bytes are all there are on the sockets, the agent's start and polls included; requests are those that bring telemetry, and all are given beside.
import type { Row } from "../row.js";
import { byMote, byOnePostEach, points } from "../upload.js";

const POINTS = 10_000;
const BATCH = 50;

export const row: Row = {
  id: 2,
  name: "10,000 points at 50 a batch, against one POST a point",
  better: "less",
  quick: true,
  exact: async () => {
    const { bytes, requests } = await byMote(points(POINTS), BATCH);
    return { bytes, requests };
  },
  run: async () => {
    const all = points(POINTS);
    const ours = await byMote(all, BATCH);
    const theirs = await byOnePostEach(all);
    return [
      { unit: "bytes", mote: ours.bytes, alternative: theirs.bytes, target: 1 / 5 },
      { unit: "requests", mote: ours.uploads, alternative: theirs.uploads, target: 1 / 50 },
      {
        what: "with all that an agent asks besides",
        unit: "requests",
        mote: ours.requests,
        alternative: theirs.requests,
        target: null,
      },
    ];
  },
};
