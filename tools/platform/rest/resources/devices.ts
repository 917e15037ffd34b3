import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Device, DeviceFields } from "../../core/devices.js";
import { asCustomer, deviceOf, forbidden, isVisible, type RestContext, TENANT } from "../context.js";
import { found, RestError } from "../error.js";
import { type Fields, idField, objectBody, pageOf, parameter, textField, uuid } from "../input.js";
import { credentialsView, deviceInfoView, deviceView } from "../views.js";

/** Devices, their credentials, and claiming. */
export function deviceRoutes(app: FastifyInstance, context: RestContext): void {
  const { core } = context;
  const view = (device: Device): object => deviceView(context, device);

  app.post("/api/device", TENANT, async (request) => {
    const body = objectBody(request);
    const id = idField(body, "id");
    if (id === undefined)
      return view(core.createDevice(fieldsOf(context, body), parameter(request, "accessToken")));
    const device = found(core.devices.get(id));
    core.updateDevice(device, fieldsOf(context, body, device));
    return view(device);
  });

  app.get("/api/device/info/:deviceId", async (request) =>
    deviceInfoView(context, deviceOf(context, request)),
  );

  app.get("/api/device/:deviceId", async (request) => view(deviceOf(context, request)));

  app.delete("/api/device/:deviceId", TENANT, async (request, reply) => {
    core.deleteDevice(deviceOf(context, request));
    return reply.send();
  });

  app.get("/api/tenant/devices", TENANT, async (request) => {
    const name = parameter(request, "deviceName");
    if (name !== undefined) return view(found(core.devices.byName(name)));
    const type = parameter(request, "type");
    const isOfType = ({ profileId }: Device): boolean => !type || core.profiles.get(profileId)?.name === type;
    return pageOf(request, core.devices.list().filter(isOfType), (device) => device.name, view);
  });

  const infoPage = (request: FastifyRequest, devices: readonly Device[]): object => {
    const profileId = parameter(request, "deviceProfileId");
    return pageOf(
      request,
      devices.filter((device) => !profileId || device.profileId === profileId),
      (device) => device.name,
      (device) => deviceInfoView(context, device),
    );
  };
  app.get("/api/tenant/deviceInfos", TENANT, async (request) => infoPage(request, core.devices.list()));

  const ofCustomer = (request: FastifyRequest): Device[] => {
    const id = uuid((request.params as { customerId: string }).customerId, "customerId");
    if (request.user?.authority === "CUSTOMER_USER" && request.user.customerId !== id) throw forbidden();
    return core.devices.list().filter((device) => device.customerId === id);
  };
  app.get("/api/customer/:customerId/devices", async (request) =>
    pageOf(request, ofCustomer(request), (device) => device.name, view),
  );
  app.get("/api/customer/:customerId/deviceInfos", async (request) => infoPage(request, ofCustomer(request)));

  credentialRoutes(app, context);
  claimRoutes(app, context);
}

/** Changes in a device's JSON. Absent members stay, except packages: absent means none. */
function fieldsOf({ core }: RestContext, body: Fields, device?: Device): DeviceFields {
  const type = textField(body, "type");
  const named = type === undefined || device ? undefined : core.profiles.byName(type)?.id;
  const profileId =
    idField(body, "deviceProfileId") ?? device?.profileId ?? named ?? core.profiles.default.id;
  if (!core.profiles.get(profileId))
    throw new RestError(400, "Device is referencing to non-existent device profile!");
  return {
    name: textField(body, "name") ?? device?.name ?? "",
    label: textField(body, "label"),
    profileId,
    firmwareId: idField(body, "firmwareId"),
    additionalInfo: body.additionalInfo,
  };
}

function credentialRoutes(app: FastifyInstance, context: RestContext): void {
  app.get("/api/device/:deviceId/credentials", async (request) =>
    credentialsView(deviceOf(context, request)),
  );
}

function claimRoutes(app: FastifyInstance, context: RestContext): void {
  const { claiming, devices } = context.core;
  const path = "/api/customer/device/:deviceName/claim";
  const named = (request: FastifyRequest): Device =>
    found(devices.byName((request.params as { deviceName: string }).deviceName));

  app.post(path, async (request, reply) => {
    const { customerId } = asCustomer(request);
    const device = named(request);
    const secret = request.body ? textField(objectBody(request), "secretKey") : undefined;
    const result = claiming.claim(device, customerId, secret ?? "");
    context.core.deviceChanged(device);
    if (result === "SUCCESS") return { device: deviceView(context, device), response: result };
    return reply.code(400).type("application/json").send(JSON.stringify(result));
  });

  app.delete(path, async (request, reply) => {
    const device = named(request);
    if (!isVisible(request, device)) throw forbidden();
    claiming.reclaim(device);
    context.core.deviceChanged(device);
    return reply.send();
  });
}
