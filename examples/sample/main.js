import { start } from "mote/board";
import { commission } from "mote/commission";
import application from "mote-app";

export default function main() {
  start({ application, extras: [commission] });
}
