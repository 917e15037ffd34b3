// As the SDK's examples/io/tcp/httpclient/config.js sets it up.
import TCP from "embedded:io/socket/tcp";
import UDP from "embedded:io/socket/udp";
import Resolver from "embedded:network/dns/resolver/udp";
import HTTPClient from "embedded:network/http/client";

export default Object.freeze(
  {
    io: HTTPClient,
    dns: { io: Resolver, servers: ["1.1.1.1"], socket: { io: UDP } },
    socket: { io: TCP },
  },
  true,
);
