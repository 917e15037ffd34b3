export { Guest } from "../../simulator/guest/guest.js";
