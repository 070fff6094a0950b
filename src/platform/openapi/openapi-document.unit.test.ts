import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { packageVersion } from "../config/package-version.ts";
import { route, type UploadedFile } from "../http/route.ts";
import { createOpenApiDocument } from "./openapi-document.ts";

const tree: z.ZodType = z
  .lazy(() => z.object({ name: z.string(), leaves: z.array(tree) }))
  .meta({ id: "Tree" });
const id = z.coerce.number().int().positive().describe("Numeric id.");

const contract = {
  growTree: route({
    http: "POST /trees/:id/leaves/:leafId",
    access: "instance",
    tag: "Trees",
    summary: "Grow a leaf",
    description: "Takes a season.",
    idempotent: true,
    aliases: { name: ["leafName", "leaf.name"], "shade.depth": ["depth"] },
    input: z.object({
      id,
      leafId: z.string(),
      name: z.string().describe("Its name."),
      tree: tree.optional(),
    }),
    output: z.object({
      tree,
      at: z.date().transform((date) => date.toISOString()),
      raw: z.date().nullable(),
      anything: z.unknown(),
    }),
    beside: z.object({ token: z.string() }),
    accepted: { output: z.object({ jobId: z.string() }), beside: z.object({ queued: z.boolean() }) },
  }),
  listTrees: route({
    http: "GET /trees/:id",
    access: "key_or_admin",
    tag: "Trees",
    summary: "List trees",
    input: z.object({ id, limit: z.coerce.number().int().max(200).default(50).describe("Rows.") }),
    output: z.array(tree),
  }),
  moveTree: route({
    http: "PUT /trees/:id",
    access: "account",
    tag: "Forest",
    summary: "Move a tree",
    upload: "file",
    input: z
      .object({ id, file: z.custom<UploadedFile>().optional().describe("The file.") })
      .and(z.union([z.object({ to: z.string() }), z.object({ by: z.number() })])),
    output: z.object({}),
  }),
  photo: route({
    http: "GET /photo",
    access: "public",
    tag: "Trees",
    summary: "A picture, or its address",
    input: z.object({}),
    output: z.object({ url: z.string() }),
    raw: "image/png",
  }),
  weather: route({
    http: "GET /weather",
    access: "public",
    tag: "Forest",
    summary: "Is it fine?",
    input: z.object({}),
    output: z.object({ fine: z.boolean() }),
    bare: true,
    statuses: [503],
  }),
};

// biome-ignore lint/suspicious/noExplicitAny: a document is a tree of anything
const document = createOpenApiDocument(contract) as any;

describe("the OpenAPI document of a contract", () => {
  test("is valid OpenAPI 3.1 with the published version", async () => {
    const { errors } = await new Validator().validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { title: "Waygate", version: packageVersion() },
    });
  });

  test("is identical each time", () => {
    expect(JSON.stringify(createOpenApiDocument(contract))).toBe(JSON.stringify(document));
  });

  test("splits the flat input into path, query and body", () => {
    const grow = document.paths["/trees/{id}/leaves/{leafId}"].post;
    expect(grow.operationId).toBe("growTree");
    expect(grow.parameters).toEqual([
      {
        name: "id",
        in: "path",
        required: true,
        description: "Numeric id.",
        schema: { type: "integer", exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      },
      { name: "leafId", in: "path", required: true, schema: { type: "string" } },
      { $ref: "#/components/parameters/IdempotencyKey" },
    ]);
    const { schema } = grow.requestBody.content["application/json"];
    expect(Object.keys(schema.properties)).toEqual(["name", "tree"]);
    expect(schema.required).toEqual(["name"]);
    const list = document.paths["/trees/{id}"].get;
    expect(list.parameters[1]).toMatchObject({
      name: "limit",
      in: "query",
      required: false,
      description: "Rows.",
    });
    expect(list.requestBody).toBeUndefined();
  });

  test("leaves the path fields out of alternatives too", () => {
    const move = document.paths["/trees/{id}"].put;
    expect(move.parameters.map(({ name }: { name: string }) => name)).toEqual(["id"]);
    expect(JSON.stringify(move.requestBody)).not.toContain('"id"');
    expect(JSON.stringify(move.requestBody)).toContain('"by"');
  });

  test("shows a file as part of a form, and not in the JSON", () => {
    const { content } = document.paths["/trees/{id}"].put.requestBody;
    expect(JSON.stringify(content["application/json"])).not.toContain("file");
    expect(content["multipart/form-data"].schema.properties.file).toEqual({
      type: "string",
      format: "binary",
      description: "The file.",
    });
  });

  test("documents the aliases of a field", () => {
    const grow = document.paths["/trees/{id}/leaves/{leafId}"].post;
    const { name } = grow.requestBody.content["application/json"].schema.properties;
    expect(name.description).toBe("Its name. Also accepted: `leafName`, `leaf.name`.");
    expect(grow.description).toBe("Takes a season.\n\nOther spellings: `shade.depth` as `depth`.");
  });

  test("shows the envelope with the fields beside data, the 202 and the error", () => {
    const { responses } = document.paths["/trees/{id}/leaves/{leafId}"].post;
    const [envelope, own] = responses["200"].content["application/json"].schema.allOf;
    expect(envelope).toEqual({ $ref: "#/components/schemas/Envelope" });
    expect(own.required).toEqual(["data", "token"]);
    expect(own.properties.data.properties.tree).toEqual({ $ref: "#/components/schemas/TreeOutput" });
    expect(own.properties.data.properties.at).toEqual({ type: "string", format: "date-time" });
    expect(own.properties.data.properties.raw.anyOf[0]).toEqual({ type: "string", format: "date-time" });
    const accepted = responses["202"].content["application/json"].schema.allOf[1];
    expect(accepted.required).toEqual(["data", "queued"]);
    expect(responses.default).toEqual({ $ref: "#/components/responses/Refusal" });
    expect(document.components.schemas.Refusal.properties.code.enum).toContain("QUEUE_UNAVAILABLE");
  });

  test("names a schema once, however often it is used", () => {
    expect(Object.keys(document.components.schemas).filter((name) => name.startsWith("Tree"))).toEqual([
      "Tree",
      "TreeOutput",
    ]);
  });

  test("says which credential a route requires", () => {
    expect(document.paths["/photo"].get.security).toEqual([]);
    expect(document.paths["/trees/{id}"].put.security).toEqual([{ bearer: [] }]);
    expect(document.paths["/trees/{id}"].get.security).toContainEqual({ adminToken: [] });
    expect(document.paths["/trees/{id}"].get.security).toContainEqual({ apiKey: [] });
  });

  test("shows raw and bare responses without an envelope", () => {
    const photo = document.paths["/photo"].get.responses["200"].content;
    expect(Object.keys(photo)).toEqual(["application/json", "image/png"]);
    const weather = document.paths["/weather"].get.responses;
    expect(weather["200"].content["application/json"].schema.properties).toEqual({
      fine: { type: "boolean" },
    });
    expect(weather["503"]).toEqual(weather["200"]);
  });
});
