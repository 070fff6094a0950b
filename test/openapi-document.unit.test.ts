import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { formatOpenApi } from "../scripts/openapi/format-openapi.ts";
import { createOpenApiDocument } from "../scripts/openapi/openapi-document.ts";
import { route, type UploadedFile } from "../src/platform/http/route.ts";
import { named } from "../src/platform/http/schema-name.ts";
import { resolveReference } from "../src/platform/openapi/resolve-reference.ts";
import { packageVersion } from "../src/platform/package-version.ts";

const tree: z.ZodType = named(
  "Tree",
  z.lazy(() => z.object({ name: z.string(), leaves: z.array(tree) })),
);
const bush = named(
  "Bush",
  z.object({ name: z.string(), height: z.number(), leaves: z.boolean(), colour: z.string() }),
);
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
  plantBush: route({
    http: "POST /trees",
    access: "account",
    tag: "Trees",
    summary: "Plant a bush",
    input: z.object({ name: z.string().optional() }),
    output: bush,
  }),
  changeBush: route({
    http: "PATCH /trees",
    access: "account",
    tag: "Trees",
    summary: "Change a bush",
    requiresBody: true,
    input: z.object({ colour: z.string().optional() }),
    output: bush.extend({ age: z.number() }),
  }),
  photo: route({
    http: "GET /photo",
    access: "public",
    tag: "Trees",
    summary: "A picture, or its address",
    errors: ["MEDIA_EXPIRED"],
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

/** The schema of a body in JSON. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function jsonOf({ content }: any): any {
  return resolveReference(document, content["application/json"].schema);
}

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
      { $ref: "#/components/parameters/IdPath" },
      { $ref: "#/components/parameters/LeafIdPath" },
      { $ref: "#/components/parameters/IdempotencyKey" },
    ]);
    const schema = jsonOf(grow.requestBody);
    expect(Object.keys(schema.properties)).toEqual(["name", "tree"]);
    expect(schema.required).toEqual(["name"]);
    const list = document.paths["/trees/{id}"].get;
    expect(resolveReference(document, list.parameters[1])).toEqual({
      name: "limit",
      in: "query",
      description: "Rows.",
      schema: { type: "integer", maximum: 200, default: 50 },
    });
    expect(list.requestBody).toBeUndefined();
  });

  test("describes a parameter of several routes once", () => {
    expect(document.components.parameters.IdPath).toEqual({
      name: "id",
      in: "path",
      required: true,
      description: "Numeric id.",
      schema: { type: "integer", format: "int64", exclusiveMinimum: 0 },
    });
    const shared = document.paths["/trees/{id}"].put.parameters;
    expect(shared).toEqual([{ $ref: "#/components/parameters/IdPath" }]);
  });

  test("leaves the path fields out of alternatives too", () => {
    const body = JSON.stringify(jsonOf(document.paths["/trees/{id}"].put.requestBody));
    expect(body).not.toContain('"id"');
    expect(body).toContain('"by"');
  });

  test("requires a body if each of its forms has a required field, or if the route says so", () => {
    const required = (path: string, method: string) => document.paths[path][method].requestBody.required;
    expect(required("/trees/{id}", "put")).toBe(true);
    expect(required("/trees/{id}/leaves/{leafId}", "post")).toBe(true);
    expect(required("/trees", "post")).toBeUndefined();
    expect(required("/trees", "patch")).toBe(true);
  });

  test("shows a file as part of a form, and not in the JSON", () => {
    const { content } = document.paths["/trees/{id}"].put.requestBody;
    expect(JSON.stringify(jsonOf({ content }))).not.toContain("file");
    const [json, form] = content["multipart/form-data"].schema.allOf;
    expect(json).toEqual(content["application/json"].schema);
    expect(form.properties.file).toEqual({ type: "string", format: "binary", description: "The file." });
  });

  test("documents the aliases of fields", () => {
    const { description } = document.paths["/trees/{id}/leaves/{leafId}"].post;
    expect(description).toBe(
      "Takes a season.\n\nOther spellings: `name` as `leafName`, `leaf.name`; `shade.depth` as `depth`.",
    );
  });

  test("shows the envelope with the fields beside data, the 202 and the error", () => {
    const { responses } = document.paths["/trees/{id}/leaves/{leafId}"].post;
    const envelope = ["success", "message", "data"];
    expect(jsonOf(responses["200"]).required).toEqual([...envelope, "token"]);
    expect(jsonOf(responses["202"]).required).toEqual([...envelope, "queued"]);
    expect(responses.default).toEqual({ $ref: "#/components/responses/default" });
    expect(document.components.schemas.ErrorCode.enum).toContain("QUEUE_UNAVAILABLE");
  });

  test("describes times by their format alone, and null as a type", () => {
    const grow = document.paths["/trees/{id}/leaves/{leafId}"].post;
    const { data } = jsonOf(grow.responses["200"]).properties;
    expect(data.properties.at).toEqual({ type: "string", format: "date-time" });
    expect(data.properties.raw).toEqual({ type: ["string", "null"], format: "date-time" });
  });

  test("names a schema once, however often it is used", () => {
    const names = Object.keys(document.components.schemas).filter((name) => /^(Bush|Tree)/.test(name));
    expect(names).toEqual(["Bush", "BushResponse", "Tree", "TreeList"]);
    const grow = document.paths["/trees/{id}/leaves/{leafId}"].post;
    const { data } = jsonOf(grow.responses["200"]).properties;
    expect(data.properties.tree).toEqual({ $ref: "#/components/schemas/Tree" });
  });

  test("lists the errors that follow from the declaration, and those that the route names", () => {
    const statusesOf = (path: string, method: string) => Object.keys(document.paths[path][method].responses);
    expect(statusesOf("/trees/{id}/leaves/{leafId}", "post")).toEqual([
      "200",
      "202",
      "400",
      "401",
      "403",
      "404",
      "409",
      "422",
      "503",
      "default",
    ]);
    expect(statusesOf("/photo", "get")).toEqual(["200", "410", "default"]);
    const { description } = document.components.responses["409"];
    expect(description).toMatch(/`CONFLICT`: [A-Z].+\n\n`CAMPAIGN_STATE`: /);
  });

  test("says which credential a route requires", () => {
    expect(document.paths["/photo"].get.security).toEqual([]);
    expect(document.paths["/trees/{id}"].put.security).toEqual([{ bearer: [] }]);
    expect(document.paths["/trees/{id}"].get.security).toContainEqual({ adminToken: [] });
    expect(document.paths["/trees/{id}"].get.security).toContainEqual({ apiKey: [] });
    expect(document.paths["/trees/{id}/leaves/{leafId}"].post.security).toBeUndefined();
    expect(document.security).toContainEqual({ apiKey: [] });
  });

  test("shows raw and bare responses without an envelope", () => {
    const photo = document.paths["/photo"].get.responses["200"].content;
    expect(Object.keys(photo)).toEqual(["application/json", "image/png"]);
    const weather = document.paths["/weather"].get.responses;
    expect(jsonOf(weather["200"]).properties).toEqual({ fine: { type: "boolean" } });
    expect(weather["503"]).toEqual(weather["200"]);
  });
});

test("an OpenAPI document is printed with small objects on one line and large ones on several", () => {
  const words = Array.from({ length: 90 }, (_, nth) => `word number ${nth}`);
  expect(formatOpenApi({ info: { title: "Waygate", tags: ["a", "b"], none: {} }, words })).toBe(
    `{\n\t"info": {"title":"Waygate","tags":["a","b"],"none":{}},\n\t"words": [\n${words
      .map((word) => `\t\t"${word}"`)
      .join(",\n")}\n\t]\n}\n`,
  );
});

test("an example of any length is printed on one line", () => {
  const example = { data: "x".repeat(1300) };
  expect(formatOpenApi({ example })).toBe(`{\n\t"example": ${JSON.stringify(example)}\n}\n`);
});

test("a printed OpenAPI document is the same JSON", () => {
  const document = {
    text: 'a "quoted" ä\n',
    list: [1, null, true, [{}], []],
    long: "x".repeat(1300),
    absent: undefined,
  };
  expect(JSON.parse(formatOpenApi(document))).toEqual(document);
});
