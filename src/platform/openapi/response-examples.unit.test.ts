import { expect, test } from "vitest";
import { illustrateResponses } from "./response-examples.ts";

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const envelope = (data: object) => ({
  allOf: [reference("Envelope"), { type: "object", properties: { data } }],
});
const schemas = {
  Envelope: { type: "object" },
  Tree: { type: "object" },
  Bush: { type: "object" },
  TreeResponse: envelope(reference("Tree")),
  BushList: envelope({ type: "array", items: reference("Bush") }),
  CountResponse: envelope({ type: "object", properties: { count: { type: "integer" } } }),
  QueuedResponse: envelope({ type: "object", properties: { job: { type: "integer" } } }),
};
const response = (schema: string) => ({ content: { "application/json": { schema: reference(schema) } } });
const operation = (operationId: string, schema: string) => ({
  operationId,
  responses: { 200: response(schema) },
});
const paths = {
  "/trees": { get: operation("getTree", "TreeResponse"), put: operation("putTree", "TreeResponse") },
  "/bushes": { get: operation("listBushes", "BushList") },
  "/count": {
    get: {
      operationId: "count",
      responses: { 200: response("CountResponse"), 202: response("QueuedResponse") },
    },
  },
};

test("a recorded response becomes the example of its data, of the first row of a list, or of the whole body", () => {
  const recorded = {
    getTree: { data: { id: 1 } },
    putTree: { data: { id: 2 } },
    listBushes: { data: [{ id: 3 }, { id: 4 }] },
    count: { data: { count: 5 } },
    countAccepted: { data: { job: 6 } },
  };
  expect(illustrateResponses(schemas, paths, recorded)).toEqual({
    ...schemas,
    Tree: { type: "object", examples: [{ id: 1 }] },
    Bush: { type: "object", examples: [{ id: 3 }] },
    CountResponse: { ...schemas.CountResponse, examples: [{ data: { count: 5 } }] },
    QueuedResponse: { ...schemas.QueuedResponse, examples: [{ data: { job: 6 } }] },
  });
});

test("an empty list and a response that was not recorded give no example", () => {
  expect(illustrateResponses(schemas, paths, { listBushes: { data: [] } })).toEqual(schemas);
});
