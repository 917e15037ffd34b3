// Bytes on the socket, both ways, requests, answers and all that an agent does besides included, over the bytes of the same points as one JSON text: what no
// sender of JSON can beat. The alternative is one POST a point on a connection that is kept.
import type { Row } from "../row.js";
import { byMote, byOnePostEach, plainBytes, points } from "../upload.js";

const POINTS = 10_000;
const BATCH = 120;

export const row: Row = {
  id: 1,
  name: "bytes on the socket, both ways, for 10,000 points of 3 numbers at 120 a batch",
  target: 1.06,
  better: "less",
  quick: true,
  exact: async () => {
    const { bytes, requests } = await byMote(points(POINTS), BATCH);
    return { bytes, requests };
  },
  run: async () => {
    const all = points(POINTS);
    const { bytes } = await byMote(all, BATCH);
    const { bytes: each } = await byOnePostEach(all);
    return [{ unit: "bytes", mote: bytes, alternative: each, limit: plainBytes(all) }];
  },
};
