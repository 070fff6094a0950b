import { z } from "zod";
import type { DeliveryHeader } from "../../src/features/webhooks/delivery-headers.ts";
import { type Components, pascalCase } from "./schemas.ts";

/** The events that webhooks receive, for the OpenAPI document. */
export interface DescribedEvents {
  /** The fields of every event; `event` and `data` are described for each. */
  body: z.ZodObject;
  /** The headers of every delivery. */
  headers: readonly DeliveryHeader[];
  /** By name: when the event is recorded, the schema of its `data`, and a body. */
  events: Readonly<Record<string, { when: string; data: z.ZodType; example: unknown }>>;
}

/** One webhook per event. */
export function webhooksOf({ body, headers, events }: DescribedEvents, components: Components) {
  const parameters = headers.map(({ name }) => ({ $ref: `#/components/parameters/${headerName(name)}` }));
  const webhooks = Object.entries(events).map(([event, { when, data, example }]) => {
    const name = pascalCase(event);
    const own = z.object({ event: z.literal(event), data });
    const schema = components.name(z.intersection(body, own), "input", `${name}Event`);
    const post = {
      operationId: `on${name}`,
      summary: `Recorded when ${when}`,
      tags: ["Events"],
      security: [],
      parameters: parameters as never[],
      requestBody: { required: true, content: { "application/json": { schema, example } } },
      responses: { "2XX": { description: "Received. Any other response is a failed attempt." } },
    };
    return [event, { post }];
  });
  return Object.fromEntries(webhooks);
}

/** The headers of deliveries as components. */
export function deliveryParameters({ headers }: DescribedEvents) {
  const parameters = headers.map(({ name, description, isOptional }) => [
    headerName(name),
    { name, in: "header", ...(!isOptional && { required: true }), description, schema: { type: "string" } },
  ]);
  return Object.fromEntries(parameters);
}

function headerName(name: string): string {
  return `${pascalCase(name.replace("x-waygate-", ""))}Header`;
}
