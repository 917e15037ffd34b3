import { start } from "mote/board";
import { commission } from "mote/commission";
import app from "mote-app";

export default function main() {
  start(app, commission);
}
