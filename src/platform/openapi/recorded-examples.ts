import { readOpenApiFile } from "./openapi-file.ts";

export interface RecordedExamples {
  /** A body of each event that webhooks receive. */
  events: Readonly<Record<string, unknown>>;
  /** What a response has, by the name of its schema. */
  schemas: Readonly<Record<string, unknown>>;
}

interface Described {
  webhooks: Record<string, { post: { requestBody: { content: Record<string, { example?: unknown }> } } }>;
  components: { schemas: Record<string, { examples?: unknown[] }> };
}

/** The examples that tests have recorded. They are kept in openapi.json alone: `npm run generate` carries them over. */
export function readRecordedExamples(): RecordedExamples {
  const { webhooks, components } = JSON.parse(readOpenApiFile()) as Described;
  const events = Object.entries(webhooks).map(([event, { post }]) => [
    event,
    post.requestBody.content["application/json"]?.example,
  ]);
  const schemas = Object.entries(components.schemas).flatMap(([name, { examples }]) =>
    examples === undefined ? [] : [[name, examples[0]]],
  );
  return { events: Object.fromEntries(events), schemas: Object.fromEntries(schemas) };
}
