import type { z } from "zod";
import type { JsonSchema } from "./json-schema.ts";
import type { SchemaComponents } from "./schema-components.ts";

type Json = Record<string, unknown>;

/** The events that webhooks receive, for the OpenAPI document. */
export interface DescribedEvents {
  /** The fields of every event; `event` and `data` are described for each. */
  body: z.ZodType;
  /** The headers of every delivery. */
  headers: readonly { name: string; description: string; isOptional?: true }[];
  /** By name: when the event is recorded, the schema of its `data`, and a body. */
  events: Readonly<Record<string, { when: string; data: z.ZodType; example: unknown }>>;
}

/** One webhook per event. */
export function webhooksOf({ body, headers, events }: DescribedEvents, schemas: SchemaComponents): Json {
  const base = schemas.of(body, "output");
  const parameters = headers.map(({ name }) => ({ $ref: `#/components/parameters/${headerName(name)}` }));
  return Object.fromEntries(
    Object.entries(events).map(([event, { when, data, example }]) => {
      const own = { event: { type: "string", const: event }, data: schemas.of(data, "output") };
      const schema: JsonSchema = {
        allOf: [base, { type: "object", properties: own, required: ["data"] }],
      };
      const name = pascalCase(event);
      const content = { schema: schemas.add(schema, `${name}Event`), example };
      const post = {
        operationId: `on${name}`,
        summary: `Recorded when ${when}`,
        tags: ["Events"],
        security: [],
        parameters,
        requestBody: { required: true, content: { "application/json": content } },
        responses: { "2XX": { $ref: "#/components/responses/EventReceived" } },
      };
      return [event, { post }];
    }),
  );
}

/** What a receiver responds to an event. */
export const RECEIVER_RESPONSES = {
  EventReceived: { description: "Received. Any other response is a failed attempt." },
};

/** The headers of deliveries as components. */
export function deliveryParameters({ headers }: DescribedEvents): Record<string, Json> {
  return Object.fromEntries(
    headers.map(({ name, description, isOptional }) => [
      headerName(name),
      { name, in: "header", ...(!isOptional && { required: true }), description, schema: { type: "string" } },
    ]),
  );
}

function headerName(name: string): string {
  return `${pascalCase(name.replace("x-waygate-", ""))}Header`;
}

function pascalCase(text: string): string {
  return text
    .split(/[._-]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("");
}
