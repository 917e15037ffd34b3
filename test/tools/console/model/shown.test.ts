// What the console's pages show, as far as it needs no page: names of pages, numbers, points, the list of devices.
import test from "ava";
import {
  emptyText,
  listedDevice,
  listOf,
  platformQuery,
  queryOf,
} from "../../../../tools/console/model/device-list.js";
import {
  ago,
  bytes,
  clock,
  counted,
  duration,
  rate,
  rounded,
  tick,
} from "../../../../tools/console/model/format.js";
import { guardOf } from "../../../../tools/console/model/guard.js";
import { routeOf, titled } from "../../../../tools/console/model/routes.js";
import { isDrawable, MOST_POINTS, rowsOf, Series } from "../../../../tools/console/model/series.js";

const ID = "7c5e0000-1dd2-11b2-8080-808080808080";
const NOW = Date.UTC(2026, 10, 22, 12);

test("an address leads to its page, and what is none to the page that says so", (t) => {
  t.is(routeOf("").page, "devices");
  t.is(routeOf("#/").page, "devices");
  t.is((routeOf("#/?search=a%26b") as { query: URLSearchParams }).query.get("search"), "a&b");
  t.deepEqual(routeOf(`#/device/${ID}`), { page: "device", id: ID });
  t.deepEqual(routeOf(`#/device/${ID.toUpperCase()}/update`), { page: "update", id: ID });
  t.is(routeOf("#/updates?state=failed").page, "updates");
  t.is(routeOf("#/faults").page, "faults");
  for (const hash of ["#/device/", "#/device/1", `#/device/${ID}/x`, "#/nothing", "#main<img>"])
    t.is(routeOf(hash).page, "unknown", hash);
  t.is(titled("Updates"), "Updates · Mote console");
});

test("bytes have the unit that fits, and times one unit", (t) => {
  t.is(bytes(50_000_000), "50 MB");
  t.is(bytes(0), "0 bytes");
  t.is(bytes(1), "1 byte");
  t.is(bytes(999), "999 bytes");
  t.is(bytes(1_234), "1.23 kB");
  t.is(bytes(999_999), "1 MB");
  t.is(bytes(2_500_000_000_000), "2,500 GB");
  t.is(bytes(undefined), "size not known");
  t.is(bytes(-1), "size not known");
  t.is(rate(350_000), "350 kB/s");
  t.deepEqual([12, 8_040, 90_000, 180_000, 7_200_000, 4 * 86_400_000].map(duration), [
    "12 ms",
    "8 s",
    "90 s",
    "3 min",
    "2 h",
    "4 d",
  ]);
  t.is(ago(NOW - 400, NOW), "0 s ago");
  t.is(ago(NOW + 400, NOW), "0 s ago");
  t.is(ago(NOW - 8_400, NOW), "8 s ago");
  t.regex(clock(NOW, NOW), /^\d\d:\d\d:\d\d$/);
  t.regex(clock(NOW - 3 * 86_400_000, NOW), /^19 Nov \d\d:\d\d:\d\d$/);
  t.is(clock(Number.NaN, NOW), "");
  t.regex(tick(NOW / 1000, 60), /^\d\d:\d\d:\d\d$/);
  t.regex(tick(NOW / 1000, 3_600), /^\d\d:\d\d$/);
  t.regex(tick(NOW / 1000, 7 * 86_400), /^\d+ Nov$/);
  t.is(counted(1, "device"), "1 device");
  t.is(counted(1_300, "device"), "1,300 devices");
  t.is(rounded(62.97960051219932), "62.9796");
});

test("moments, states of an update and what is no number are not drawn", (t) => {
  t.true(isDrawable("temperature", 21.5));
  t.true(isDrawable("counter", 1_700_000_000));
  t.true(isDrawable("heat", 1_700_000_000));
  t.false(isDrawable("bootTime", 1_700_000_000));
  t.false(isDrawable("last_seen.ts", 1_700_000_000));
  t.false(isDrawable("anything", NOW));
  t.false(isDrawable("fw_progress", 5));
  t.false(isDrawable("target_ts", NOW));
  for (const value of ["21", true, null, {}, Number.NaN]) t.false(isDrawable("a", value));
});

test("points of several keys become rows by time, those of a range alone, and late ones go to their places", (t) => {
  const [one, other] = [new Series(), new Series()];
  for (const [ts, value] of [
    [10, 1],
    [30, 3],
    [20, 2],
    [30, 33],
  ] as const)
    one.add(ts, value);
  for (const [ts, value] of [
    [20, 200],
    [25, 250],
    [90, 900],
  ] as const)
    other.add(ts, value);
  t.deepEqual(one.values, [1, 2, 33]);
  t.is(one.countIn(10, 30), 2);
  t.deepEqual(rowsOf([one, other], 10, 90), [
    [10, 1, undefined],
    [20, 2, 200],
    [25, undefined, 250],
    [30, 33, undefined],
  ]);
  for (let ts = 0; ts < MOST_POINTS + 10; ts++) other.add(1_000 + ts, ts);
  t.is(other.times.length, MOST_POINTS);
});

test("the list of devices is as its address says, and the live ones come first when it says nothing", (t) => {
  const first = listOf(new URLSearchParams());
  t.deepEqual(first, { search: "", state: "all", sort: "state", descending: true, page: 0 });
  t.is(queryOf(first).toString(), "");
  const own = { search: "a&b", state: "inactive", sort: "seen", descending: false, page: 3 } as const;
  t.deepEqual(listOf(queryOf(own)), own);
  t.deepEqual(listOf(queryOf({ ...own, sort: "name", descending: true })), {
    ...own,
    sort: "name",
    descending: true,
  });
  t.deepEqual(listOf(new URLSearchParams("state=x&sort=constructor&page=-1")), first);
  t.like(platformQuery(first), {
    page: 0,
    sort: { key: { key: "active" }, direction: "DESC" },
    keyFilters: [],
  });
  const { keyFilters = [], sort } = platformQuery(own);
  t.is(sort?.direction, "ASC");
  t.deepEqual(
    keyFilters.map(({ key, predicate }) => [key.key, predicate.operation, predicate.value.defaultValue]),
    [
      ["name", "CONTAINS", "a&b"],
      ["active", "EQUAL", false],
    ],
  );
});

test("a device that was never heard of has no time, and an empty list says why", (t) => {
  const entityId = { entityType: "DEVICE", id: ID };
  const never = {
    ENTITY_FIELD: { name: { ts: 0, value: "a" } },
    SERVER_ATTRIBUTE: { lastActivityTime: { ts: 0, value: "" } },
  };
  t.like(listedDevice({ entityId, latest: never }), { name: "a", isActive: false, lastSeen: undefined });
  const live = {
    SERVER_ATTRIBUTE: { active: { ts: 1, value: "true" }, lastActivityTime: { ts: 1, value: "5" } },
  };
  t.like(listedDevice({ entityId, latest: live }), { name: "", isActive: true, lastSeen: 5 });
  t.is(emptyText({ search: "pump", state: "all" }), "No device has “pump” in its name.");
  t.is(emptyText({ search: "pump", state: "active" }), "No active device has “pump” in its name.");
  t.regex(emptyText({ search: "", state: "all" }), /npm start/);
  t.regex(emptyText({ search: "", state: "active" }), /ten minutes/);
});

test("fw_* attributes are guarded while an update runs, and only then", (t) => {
  for (const state of ["QUEUED", "INITIATED", "DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING"])
    t.regex(guardOf("shared", "fw_version", state) ?? "", new RegExp(`${state}.*fw_version`), state);
  for (const state of ["UPDATED", "FAILED", undefined, 5])
    t.is(guardOf("shared", "fw_version", state), undefined);
  t.is(guardOf("shared", "interval", "DOWNLOADING"), undefined);
  t.is(guardOf("server", "fw_version", "DOWNLOADING"), undefined);
});
