import type { FastifyInstance } from "fastify";
import { deviceOf, type RestContext, TENANT } from "../context.js";
import { RestError } from "../error.js";
import { pageOf, uuid } from "../input.js";
import { CUSTOMER_TITLE } from "../users.js";
import { deviceView, entityId } from "../views.js";

/** The one customer there is, and which devices are its own. */
export function customerRoutes(app: FastifyInstance, context: RestContext): void {
  const { core, users } = context;
  const view = (): object => ({
    id: entityId("CUSTOMER", users.customerId),
    createdTime: users.createdTime,
    tenantId: entityId("TENANT", users.tenantId),
    title: CUSTOMER_TITLE,
    name: CUSTOMER_TITLE,
    ...{ country: null, state: null, city: null, address: null, address2: null, zip: null },
    ...{ phone: null, email: null, externalId: null, version: 1, additionalInfo: null },
  });
  const check = (params: unknown): void => {
    const id = uuid((params as { customerId: string }).customerId, "customerId");
    if (id !== users.customerId) throw new RestError(404, `Customer with id [${id}] is not found`);
  };

  app.get("/api/customers", TENANT, async (request) =>
    pageOf(request, [users.customerId], () => CUSTOMER_TITLE, view),
  );

  app.get("/api/customer/:customerId", async (request) => {
    check(request.params);
    return view();
  });

  app.post("/api/customer/:customerId/device/:deviceId", TENANT, async (request) => {
    check(request.params);
    const device = deviceOf(context, request);
    device.customerId = users.customerId;
    core.deviceChanged(device);
    return deviceView(context, device);
  });

  app.delete("/api/customer/device/:deviceId", TENANT, async (request) => {
    const device = deviceOf(context, request);
    device.customerId = undefined;
    core.deviceChanged(device);
    return deviceView(context, device);
  });
}
