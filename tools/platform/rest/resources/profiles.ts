import type { FastifyInstance } from "fastify";
import { type Profile, type ProfileFields, STRATEGIES } from "../../core/profiles.js";
import { type RestContext, TENANT } from "../context.js";
import { found, RestError } from "../error.js";
import { type Fields, idField, objectBody, pageOf, textField, uuid } from "../input.js";
import { profileView } from "../views.js";

export function profileRoutes(app: FastifyInstance, context: RestContext): void {
  const { core } = context;
  const view = (profile: Profile): object => profileView(context, profile);
  const profileOf = (params: unknown): Profile =>
    found(core.profiles.get(uuid((params as { id: string }).id, "deviceProfileId")));

  app.get("/api/deviceProfiles", TENANT, async (request) =>
    pageOf(request, core.profiles.list(), (profile) => profile.name, view),
  );

  app.get("/api/deviceProfile/:id", TENANT, async (request) => view(profileOf(request.params)));

  app.post("/api/deviceProfile", TENANT, async (request) => {
    const body = objectBody(request);
    const id = idField(body, "id");
    if (id === undefined) return view(core.profiles.create(fieldsOf(body)));
    const profile = found(core.profiles.get(id));
    core.updateProfile(profile, fieldsOf(body));
    return view(profile);
  });

  app.delete("/api/deviceProfile/:id", TENANT, async (request, reply) => {
    core.deleteProfile(profileOf(request.params));
    return reply.send();
  });
}

function fieldsOf(body: Fields): ProfileFields {
  const { provisionConfiguration } = objectOf(body.profileData);
  const configuration = objectOf(provisionConfiguration);
  const type = textField(configuration, "type") ?? textField(body, "provisionType") ?? "DISABLED";
  const strategy = STRATEGIES.find((name) => name === type);
  if (!strategy) throw new RestError(400, "Unknown provision type");
  const description = textField(body, "description");
  return {
    name: textField(body, "name") ?? "",
    ...(description !== undefined && { description }),
    strategy,
    provisionKey: textField(body, "provisionDeviceKey"),
    provisionSecret: textField(configuration, "provisionDeviceSecret"),
    firmwareId: idField(body, "firmwareId"),
  };
}

function objectOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
