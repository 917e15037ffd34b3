// As the SDK's examples/io/tcp/httpsclient/config.js sets it up.

import Resource from "Resource";
import TCP from "embedded:io/socket/tcp";
import TLSSocket from "embedded:io/socket/tcp/tls";
import UDP from "embedded:io/socket/udp";
import Resolver from "embedded:network/dns/resolver/udp";
import HTTPClient from "embedded:network/http/client";
import { BUILT } from "platform";
import Time from "time";

// Certificates are judged by the date, and there is no time server on the emulated network.
Time.set(BUILT / 1000);

export default {
  io: HTTPClient,
  dns: { io: Resolver, servers: ["1.1.1.1"], socket: { io: UDP } },
  socket: {
    io: TLSSocket,
    TCP: { io: TCP },
    secure: { applicationLayerProtocolNegotiation: "http/1.1", certificate: new Resource("ca.der") },
  },
};
