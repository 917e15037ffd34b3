import { check, pause, same, until } from "./check.js";
import type { Promised } from "./promised.js";

export const timePromises: readonly Promised[] = [
  {
    title: "clock: time goes on, and the time of day is unknown or after 2024",
    async run(host) {
      const first = host.clock.now();
      await pause(host, 20);
      check(host.clock.now() > first, "time stands still");
      const wall = host.clock.wall();
      check(wall === undefined || wall > 1_704_067_200_000, `it is ${wall}`);
    },
  },
  {
    title: "timer: due once, not before its time",
    async run(host) {
      const began = host.clock.now();
      let calls = 0;
      let at = 0;
      host.clock.timer(30, () => {
        calls++;
        at = host.clock.now();
      });
      await pause(host, 90);
      same(calls, 1, "calls");
      // A host may count whole milliseconds.
      check(at - began >= 29, `due after ${at - began} ms`);
    },
  },
  {
    title: "timer: of two, the earlier one is due first, whichever was set first",
    async run(host) {
      const order: string[] = [];
      host.clock.timer(60, () => order.push("late"));
      host.clock.timer(10, () => order.push("early"));
      host.clock.timer(60, () => order.push("last"));
      await until(host, () => order.length === 3, "three timers");
      same(order.join(), "early,late,last", "order");
    },
  },
  {
    title: "timer: 0 ms is not now",
    async run(host) {
      let due = false;
      host.clock.timer(0, () => {
        due = true;
      });
      same(due, false, "due within the call");
      await until(host, () => due, "the timer");
    },
  },
  {
    title: "timer: once cancelled it is never due, and cancelling again does no harm",
    async run(host) {
      let calls = 0;
      const cancel = host.clock.timer(10, () => calls++);
      cancel();
      cancel();
      let other = 0;
      const late = host.clock.timer(5, () => other++);
      await pause(host, 50);
      late();
      same(calls, 0, "calls of the cancelled one");
      same(other, 1, "calls of the other");
    },
  },
  {
    title: "timer: one may be cancelled, and another set, by one that is due",
    async run(host) {
      let doomed = 0;
      let next = 0;
      let cancel = (): void => {};
      host.clock.timer(5, () => {
        cancel();
        host.clock.timer(0, () => next++);
      });
      cancel = host.clock.timer(40, () => doomed++);
      await until(host, () => next > 0, "the new one");
      await pause(host, 60);
      same(doomed, 0, "calls of the cancelled one");
      same(next, 1, "calls of the new one");
    },
  },
];
