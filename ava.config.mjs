// How the tests run.

/** Those that take longest begin first, in this order: one that began last would have the machine to itself in the end. */
const LONG = [
  ...[
    "cut/firmware",
    "xs/long",
    "fuzz/fuzz",
    "console/console",
    "node/supervisor",
    "node/reset",
    "node/report",
  ],
  ...[
    "e2e/ahead",
    "node/killed",
    "node/recovery",
    "desk/start",
    "faults/",
    "cycle/",
    "cut/",
    "e2e/",
    "node/",
  ],
];

const place = (file) => {
  const at = LONG.findIndex((begin) => file.includes(`/test/${begin}`));
  return at < 0 ? LONG.length : at;
};

export default {
  files: ["dist/test/**/*.test.js"],
  require: ["./dist/test/seed.js"],
  nodeArguments: ["--enable-source-maps"],
  timeout: "3m",
  concurrency: 4,
  workerThreads: false,
  sortTestFiles: (one, other) => place(one) - place(other) || (one < other ? -1 : 1),
};
