import { z } from "zod";
import { contract } from "../../src/contract.ts";
import { chatwootConfig } from "../../src/features/integrations/chatwoot/chatwoot-config.ts";
import { n8nConfig } from "../../src/features/integrations/n8n/n8n-config.ts";
import { typebotConfig } from "../../src/features/integrations/typebot/typebot-config.ts";
import type { Route } from "../../src/platform/http/route.ts";
import { type Operation, type OperationSchema, readOperations, resolveSchema } from "./operations.ts";

/** A field of an operation that takes text, and so perhaps an address. */
export interface AddressField {
  operation: Operation;
  /** Where the text stands in the body; `[]` is the first of a list. */
  path: string[];
  /** For an integration: which. */
  provider?: string;
  /** Its name or description speaks of something that is fetched or called. */
  isNamedForOne: boolean;
}

const NAMED_FOR_ONE =
  /url|uri|link|media|proxy|picture|photo|image|file|base64|address|host|hook|sticker|audio|video|vcard/i;
const CONFIGS = { n8n: n8nConfig, typebot: typebotConfig, chatwoot: chatwootConfig };
const MOST_DEPTH = 4;

/** Every field of a body of the contract that takes text, other spellings of it included. */
export function readAddressFields(): AddressField[] {
  const operations = readOperations();
  const fields = operations.flatMap((operation) => {
    const { aliases = {}, upload } = (contract as Record<string, Route>)[operation.id] ?? {};
    // The document shows what may come as a file as that alone; an address may stand there too.
    const uploaded = upload === undefined ? [] : [{ path: [upload], text: upload }];
    const found = [...textsIn(operation.body ?? {}, []), ...uploaded];
    const others = found.flatMap(({ path, text }) =>
      (aliases[path.join(".")] ?? []).map((alias) => ({ path: alias.split("."), text: `${text} ${alias}` })),
    );
    return [...found, ...others].map(({ path, text }) => fieldOf(operation, path, text));
  });
  const save = operations.find(({ id }) => id === "saveIntegration");
  if (!save) throw new Error("There is no operation saveIntegration.");
  const configured = Object.entries(CONFIGS).flatMap(([provider, config]) => {
    const schema = z.toJSONSchema(config, { io: "input", unrepresentable: "any" }) as OperationSchema;
    return textsIn(schema, []).map(({ path, text }) => ({
      ...fieldOf(save, ["config", ...path], text),
      provider,
    }));
  });
  return [...fields, ...configured];
}

function fieldOf(operation: Operation, path: string[], text: string): AddressField {
  return { operation, path, isNamedForOne: NAMED_FOR_ONE.test(text) };
}

interface TextPlace {
  path: string[];
  text: string;
}

function textsIn(schema: OperationSchema & { description?: string }, path: string[]): TextPlace[] {
  const {
    type,
    enum: values,
    properties = {},
    items,
    anyOf = [],
    allOf = [],
    description,
  } = resolveSchema(schema) as OperationSchema & {
    description?: string;
  };
  if (path.length > MOST_DEPTH) return [];
  const own =
    [type].flat().includes("string") && !values
      ? [{ path, text: `${path.join(".")} ${description ?? ""}` }]
      : [];
  const found = [
    ...own,
    ...Object.entries(properties).flatMap(([name, one]) => textsIn(one, [...path, name])),
    ...(items ? textsIn(items, [...path, "[]"]) : []),
    ...[...anyOf, ...allOf].flatMap((one) => textsIn({ description, ...one } as OperationSchema, path)),
  ];
  return [...new Map(found.map((one) => [one.path.join("."), one])).values()];
}

/** A body with the text at the path. */
export function withText(
  body: Readonly<Record<string, unknown>>,
  path: readonly string[],
  text: string,
): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return text;
  const inner = withText((body[name] as Record<string, unknown> | undefined) ?? {}, rest, text);
  return name === "[]" ? [inner] : { ...body, [name]: inner };
}
