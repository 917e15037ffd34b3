export { Guest } from "../../hosts/simulator/guest/guest.js";
