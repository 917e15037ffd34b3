/// <reference path="../sdk-tls.d.ts" />
// Takes the place of the SDK's "ssl/ciphersuites": those with fresh keys for each connection and authenticated encryption. (Of the
// others the SDK does not check the padding.)
import { GCM } from "ssl/constants";
import suites from "mote-sdk/ssl/ciphersuites";

export default suites.filter(({ encryptionMode }) => encryptionMode === GCM);
