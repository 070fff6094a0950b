import { describe, expect, test } from "vitest";
import { toOpenApi30 } from "./to-openapi-30.ts";

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Trees", version: "1.0.0", license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
  tags: [{ name: "Trees" }, { name: "Events" }],
  paths: {
    "/trees": {
      get: {
        operationId: "listTrees",
        tags: ["Trees"],
        parameters: [
          { name: "age", in: "query", schema: { type: ["integer", "null"], exclusiveMinimum: 0 } },
        ],
        responses: { "200": { $ref: "#/components/responses/Tree" } },
      },
    },
  },
  webhooks: {
    "tree.fell": {
      post: {
        tags: ["Events"],
        requestBody: {
          content: { "application/json": { schema: { $ref: "#/components/schemas/FellEvent" } } },
        },
      },
    },
  },
  components: {
    securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    parameters: { SignatureHeader: { name: "signature", in: "header", schema: { type: "string" } } },
    responses: {
      Tree: {
        description: "Done",
        content: {
          "application/json": {
            schema: { $ref: "#/components/schemas/Tree" },
            example: { type: ["a", "null"] },
          },
        },
      },
    },
    schemas: {
      Tree: {
        type: "object",
        properties: {
          kind: { type: "string", const: "oak" },
          parent: {
            anyOf: [{ $ref: "#/components/schemas/Parent" }, { type: "null" }],
            description: "Its tree.",
          },
          owner: { $ref: "#/components/schemas/Parent", description: "Who owns it." },
          names: { anyOf: [{ type: "array", items: { type: ["string", "null"] } }, { type: "string" }] },
          planted_at: { type: ["string", "null"], format: "date-time", default: null },
          marks: {
            type: "object",
            propertyNames: { maxLength: 8 },
            additionalProperties: { anyOf: [{ type: "string" }, { type: "number" }, { type: "boolean" }] },
          },
          note: { type: ["string", "number", "null"] },
        },
      },
      Parent: { type: "object", properties: { age: { type: "integer" } }, examples: [{ age: 7 }] },
      FellEvent: { allOf: [{ $ref: "#/components/schemas/Parent" }, { type: "object" }] },
      Unused: { type: "object" },
    },
  },
};

// biome-ignore lint/suspicious/noExplicitAny: the test walks through a converted document
const converted = toOpenApi30(DOCUMENT) as any;
const { properties } = converted.components.schemas.Tree;

describe("an OpenAPI document in version 3.0", () => {
  test("has no webhooks, and keeps the schemas of their events", () => {
    expect(converted.openapi).toBe("3.0.3");
    expect(converted).not.toHaveProperty("webhooks");
    expect(Object.keys(converted.components.schemas)).toEqual(["Tree", "Parent", "FellEvent"]);
    expect(converted.components.parameters).toEqual({});
    expect(converted.components.securitySchemes).toEqual(DOCUMENT.components.securitySchemes);
    expect(converted.tags).toEqual([{ name: "Trees" }]);
    expect(converted.info.license).toEqual({ name: "Apache-2.0" });
  });

  test("says by `nullable` what may be null", () => {
    expect(properties.planted_at).toEqual({ type: "string", nullable: true, format: "date-time" });
    expect(properties.parent).toEqual({
      allOf: [{ $ref: "#/components/schemas/Parent" }],
      description: "Its tree.",
      nullable: true,
    });
    expect(properties.note).toEqual({ nullable: true });
  });

  test("has one form of each field, the first", () => {
    expect(properties.names).toEqual({ type: "array", items: { type: "string", nullable: true } });
    expect(properties.marks).toEqual({ type: "object", additionalProperties: {} });
  });

  test("writes constants, limits and descriptions beside references as that version does", () => {
    expect(properties.kind).toEqual({ type: "string", enum: ["oak"] });
    expect(properties.owner).toEqual({
      allOf: [{ $ref: "#/components/schemas/Parent" }],
      description: "Who owns it.",
    });
    const [age] = converted.paths["/trees"].get.parameters;
    expect(age.schema).toEqual({ type: "integer", nullable: true, minimum: 0, exclusiveMinimum: true });
  });

  test("leaves examples as they are", () => {
    expect(converted.components.schemas.Parent.example).toEqual({ age: 7 });
    const { example } = converted.components.responses.Tree.content["application/json"];
    expect(example).toEqual({ type: ["a", "null"] });
  });
});
