// What is in RAM when an application begins: all of ours is imported, nothing is made yet.
import Debug from "debug";
import * as core from "mote";
import * as report from "mote/report";
import { Strategies } from "mote/strategies";
import app from "mote-app";
import * as simulator from "mote-simulator";
import TlsSession from "ssl/session";
import Timer from "timer";

export default function main() {
  for (const one of [core.Agent, app, simulator.createHost, report.Reports, Strategies, TlsSession])
    if (typeof one !== "function") throw new Error("not there");
  Timer.set(() => {
    Debug.gc();
    trace("collected\n");
  }, 0);
}
