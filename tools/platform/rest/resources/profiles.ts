import type { FastifyInstance } from "fastify";
import { type Profile, type ProfileFields, STRATEGIES } from "../../core/profiles.js";
import { type RestContext, TENANT } from "../context.js";
import { found, RestError } from "../error.js";
import { type Fields, idField, objectBody, pageOf, switchParameter, textField, uuid } from "../input.js";
import { entityId, profileView } from "../views.js";

export function profileRoutes(app: FastifyInstance, context: RestContext): void {
  const { core } = context;
  const view = (profile: Profile): object => profileView(context, profile);
  const infoView = ({ id, name }: Profile): object => ({
    id: entityId("DEVICE_PROFILE", id),
    name,
    ...{ image: null, defaultDashboardId: null, type: "DEFAULT", transportType: "DEFAULT" },
    tenantId: entityId("TENANT", context.users.tenantId),
  });
  const profileOf = (params: unknown): Profile =>
    found(core.profiles.get(uuid((params as { id: string }).id, "deviceProfileId")));

  app.get("/api/deviceProfiles", TENANT, async (request) =>
    pageOf(request, core.profiles.list(), (profile) => profile.name, view),
  );

  app.get("/api/deviceProfileInfo/default", TENANT, async () => infoView(core.profiles.default));

  app.get("/api/deviceProfile/names", TENANT, async (request) => {
    const isUsed = (id: string): boolean => core.devices.list().some(({ profileId }) => profileId === id);
    const activeOnly = switchParameter(request, "activeOnly") === true;
    const named = core.profiles.list().filter(({ id }) => !activeOnly || isUsed(id));
    return named.map(({ id, name }) => ({ id: entityId("DEVICE_PROFILE", id), name }));
  });

  app.get("/api/deviceProfileInfos", TENANT, async (request) =>
    pageOf(request, core.profiles.list(), ({ name }) => name, infoView),
  );

  app.get("/api/deviceProfileInfo/:id", TENANT, async (request) => infoView(profileOf(request.params)));

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
    softwareId: idField(body, "softwareId"),
  };
}

function objectOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
