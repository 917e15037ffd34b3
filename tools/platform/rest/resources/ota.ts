import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ALGORITHMS, type Algorithm } from "../../core/ota/checksum.js";
import { hasData, type OtaPackage, type PackageFile } from "../../core/ota/packages.js";
import type { PlatformCore } from "../../core/platform.js";
import { type RestContext, TENANT } from "../context.js";
import { found, RestError } from "../error.js";
import { idField, objectBody, pageOf, parameter, textField, uuid } from "../input.js";
import { packageView } from "../views.js";

const LARGEST = 64 * 1024 * 1024;

/** OTA packages: the entry first, then its file. */
export function otaRoutes(app: FastifyInstance, context: RestContext): void {
  const { core } = context;
  const view = (target: OtaPackage): object => packageView(context, target);
  const packageOf = ({ params }: FastifyRequest): OtaPackage =>
    found(core.packages.get(uuid((params as { id: string }).id, "otaPackageId")));

  app.register(multipart, { limits: { fileSize: LARGEST, files: 1, fields: 10 } });

  app.post("/api/otaPackage", TENANT, async (request) => view(create(core, request)));

  // The upload needs the plugin, and so comes after it.
  app.register(async (scope) => {
    scope.post("/api/otaPackage/:id", TENANT, async (request) => {
      const target = packageOf(request);
      core.packages.upload(target, await readFile(request));
      return view(target);
    });
  });

  app.get("/api/otaPackage/info/:id", TENANT, async (request) => view(packageOf(request)));

  app.delete("/api/otaPackage/:id", TENANT, async (request, reply) => {
    core.deletePackage(packageOf(request));
    return reply.send();
  });

  app.get("/api/otaPackages", TENANT, async (request) =>
    pageOf(request, core.packages.list(), (target) => target.title, view),
  );

  app.get("/api/otaPackages/:profileId/FIRMWARE", TENANT, async (request) => {
    const { profileId } = request.params as { profileId: string };
    const fitting = core.packages.list().filter((one) => one.profileId === profileId && hasData(one));
    return pageOf(request, fitting, (target) => target.title, view);
  });
}

function create(core: PlatformCore, request: FastifyRequest): OtaPackage {
  const body = objectBody(request);
  if (textField(body, "type") !== "FIRMWARE") throw new RestError(400, "Type should be specified!");
  const profileId = idField(body, "deviceProfileId");
  if (profileId !== undefined && !core.profiles.get(profileId))
    throw new RestError(400, "Device profile is referencing to non-existent device profile!");
  const usesUrl = body.usesUrl === true || body.isURL === true;
  const url = usesUrl ? (textField(body, "url") ?? "") : undefined;
  if (url !== undefined && url.trim() === "")
    throw new RestError(400, "Ota package URL should be specified!");
  const target = core.packages.create({
    title: textField(body, "title") ?? "",
    version: textField(body, "version") ?? "",
    tag: textField(body, "tag"),
    profileId,
    url,
  });
  if (url !== undefined) core.packages.describe(target, descriptionOf(body));
  return target;
}

function descriptionOf(body: Record<string, unknown>): Pick<OtaPackage, "algorithm" | "checksum" | "size"> {
  const { dataSize } = body;
  return {
    algorithm: algorithmOf(textField(body, "checksumAlgorithm")),
    checksum: textField(body, "checksum"),
    size: typeof dataSize === "number" && Number.isSafeInteger(dataSize) ? dataSize : undefined,
  };
}

function algorithmOf(name: string | undefined): Algorithm | undefined {
  return ALGORITHMS.find((known) => known === name?.toUpperCase());
}

/** The multipart parser's errors have no status; they are the caller's fault. */
function malformed(error: Error & { statusCode?: number }): never {
  throw error.statusCode === undefined ? new RestError(400, "Failed to parse multipart request") : error;
}

/** The algorithm comes in the query or as a field beside the file. */
async function readFile(request: FastifyRequest): Promise<PackageFile> {
  const { fields, file } = request.isMultipart() ? await partsOf(request) : { fields: {}, file: undefined };
  const algorithm = algorithmOf(parameter(request, "checksumAlgorithm") ?? fields.checksumAlgorithm);
  if (!algorithm) throw new RestError(400, "Required request parameter 'checksumAlgorithm' is not present");
  if (!request.isMultipart()) throw new RestError(415, "Content-Type is not supported");
  if (!file) throw new RestError(400, "Required part 'file' is not present.");
  const checksum = (parameter(request, "checksum") ?? fields.checksum) || undefined;
  return { ...file, algorithm, checksum };
}

interface Parts {
  fields: Record<string, string>;
  file: Pick<PackageFile, "bytes" | "fileName" | "contentType"> | undefined;
}

async function partsOf(request: FastifyRequest): Promise<Parts> {
  const found: Parts = { fields: Object.create(null) as Record<string, string>, file: undefined };
  const parts = request.parts();
  for (;;) {
    const next = await parts.next().catch(malformed);
    if (next.done) return found;
    const part = next.value;
    if (part.type === "field") {
      found.fields[part.fieldname] = String(part.value);
      continue;
    }
    const bytes = await part.toBuffer().catch(malformed);
    if (part.fieldname === "file")
      found.file = { bytes, fileName: part.filename, contentType: part.mimetype };
  }
}
