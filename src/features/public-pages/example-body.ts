type Json = Record<string, unknown>;

/** Values that say more than their type; a body has these fields where its schema knows them. */
const TELLING: Json = {
  number: "5511999990004",
  text: "Hello",
  url: "https://example.com/file.jpg",
  reaction: "👍",
  events: ["message.*"],
  settings: {},
};

/** Values of fields that are shown only where they must be given. */
const GIVEN: Json = {
  email: "owner@example.com",
  password: "correct horse battery staple",
  current_password: "correct horse battery staple",
  new_password: "another long and good password",
  message_id: "3EB0C431D2A5F96B7E8812",
  jid: "120363000000000001@g.us",
  group_jid: "120363000000000001@g.us",
  phone: "5511999990004",
  from: "5511999990004",
  since: "2026-11-20T00:00:00Z",
  participants: ["5511999990004"],
  latitude: -23.5614,
  longitude: -46.6559,
  code: "AbCdEfGhIjKlMnOpQrStUv",
  numbers: ["5511999990004"],
};

/** Where the schema alone does not tell which of its fields go together. */
const WHOLE: Readonly<Record<string, Json>> = {
  send: { number: "5511999990004", text: "Hello" },
  sendContact: { number: "5511999990004", contact: { name: "Bia Souza", phone: "5511977771234" } },
  createInstance: { name: "Sales", network: "sandbox", webhook_url: "https://example.com/hook" },
  createInstanceWithKey: { name: "Sales", network: "sandbox" },
  updateInstance: { name: "Sales" },
  connectInstance: { wait_seconds: 5 },
  markRead: { message_ids: ["3EB0C431D2A5F96B7E8812"] },
  checkContacts: { numbers: ["5511999990004"] },
  blockContact: { number: "5511999990004", action: "block" },
  setChatState: { number: "5511999990004", action: "archive" },
  sandboxRead: { from: "5511977771234", message_ids: ["3EB0C431D2A5F96B7E8812"] },
  sandboxChat: { from: "5511977771234", archived: true },
  updateGroupSettings: { jid: "120363000000000001@g.us", announce: true },
};

/** A body for an operation, made from the schema of its request. */
export function exampleBody(operation: string, schema: unknown, schemas: Json): unknown {
  const known = WHOLE[operation];
  if (known) return known;
  return sampleOf(resolve(schema, schemas), schemas);
}

function resolve(schema: unknown, schemas: Json): Json {
  const shape = (schema ?? {}) as Json;
  const name = typeof shape.$ref === "string" ? shape.$ref.split("/").at(-1) : undefined;
  return name === undefined ? shape : ((schemas[name] ?? {}) as Json);
}

function sampleOf(schema: Json, schemas: Json, name = ""): unknown {
  if (Object.hasOwn(TELLING, name)) return TELLING[name];
  if (Object.hasOwn(GIVEN, name)) return GIVEN[name];
  if ("default" in schema) return schema.default;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [branch] = ["anyOf", "oneOf", "allOf"].flatMap((word) => (schema[word] as Json[] | undefined) ?? []);
  if (branch) return sampleOf(resolve(branch, schemas), schemas, name);
  if (schema.type === "object" || schema.properties) return objectOf(schema, schemas);
  if (schema.type === "array") return [sampleOf(resolve(schema.items, schemas), schemas)];
  return plainOf(schema, name);
}

function objectOf({ properties = {}, required = [] }: Json, schemas: Json): Json {
  const shown = Object.entries(properties as Json).filter(
    ([name]) => (required as string[]).includes(name) || Object.hasOwn(TELLING, name),
  );
  return Object.fromEntries(
    shown.map(([name, field]) => [name, sampleOf(resolve(field, schemas), schemas, name)]),
  );
}

function plainOf({ type, format, minimum }: Json, name: string): unknown {
  if (type === "integer" || type === "number")
    return typeof minimum === "number" && minimum > 0 ? minimum : 1;
  if (type === "boolean") return true;
  if (format === "date-time") return "2026-11-20T12:00:00Z";
  return name === "" ? "text" : name.replaceAll("_", " ");
}
