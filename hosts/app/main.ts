import { start } from "mote/board";
import app from "mote-app";

export default function main(): void {
  start(app);
}
