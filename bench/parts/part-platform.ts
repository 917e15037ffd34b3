// The local platform with these devices; each one's name is its token. It takes others that provision themselves. `part-platform.js NAME...`
import { startPlatform } from "../../tools/platform/server.js";
import { answerAsPart } from "./parts.js";

const platform = await startPlatform({ port: 0, requestTimeoutMs: 120_000 });
const { core } = platform;
const ids = process.argv.slice(2).map((name) => {
  const device = core.createDevice({ name, profileId: core.profiles.default.id }, name);
  return [name, device.id] as const;
});
answerAsPart({ port: platform.address.port, ids: Object.fromEntries(ids), profile: platform.profile });
