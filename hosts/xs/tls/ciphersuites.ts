// Takes the place of the SDK's "ssl/ciphersuites": those with fresh keys for each connection and authenticated encryption. (Of the
// others the SDK does not check the padding.)

import suites from "mote-sdk/ssl/ciphersuites";
import { GCM } from "ssl/constants";

const offered = suites.filter(({ encryptionMode }) => encryptionMode === GCM);

export default offered;
