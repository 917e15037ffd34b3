import app from "mote/app";
import { start } from "mote/board";

export default function main(): void {
  start(app);
}
