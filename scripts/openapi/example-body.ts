import { z } from "zod";

type Json = Record<string, unknown>;
type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Values for fields that are always shown. */
const ALWAYS_SHOWN: Json = {
  number: "5511999990004",
  text: "Hello",
  url: "https://example.com/photo.jpg",
  reaction: "👍",
  events: ["message.*"],
  settings: {},
};

/** Values for fields that are shown if required. */
const SHOWN_IF_REQUIRED: Json = {
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
  name: "Sales",
  subject: "Team",
  code: "AbCdEfGhIjKlMnOpQrStUv",
  numbers: ["5511999990004"],
};

const VALUES: Json = { ...SHOWN_IF_REQUIRED, ...ALWAYS_SHOWN };

/** Generates a JSON body from the schema of a request. */
export function exampleBody(schema: z.ZodType): unknown {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const sampleOf = (part: JsonSchema, name = ""): unknown => {
    if (Object.hasOwn(VALUES, name)) return VALUES[name];
    const [given] = ["default", "const"].filter((keyword) => keyword in part);
    if (given) return part[given];
    if (part.enum) return part.enum[0];
    const [branch] = [part.anyOf, part.oneOf, part.allOf].flatMap((branches) => branches ?? []);
    if (branch) return sampleOf(branch, name);
    if (part.type === "object" || part.properties) return objectOf(part);
    if (part.type === "array") return [sampleOf(part.items as JsonSchema)];
    return plainOf(part, name);
  };
  const objectOf = ({ properties = {}, required = [] }: JsonSchema): Json => {
    const shown = Object.entries(properties).filter(
      ([name]) => required.includes(name) || Object.hasOwn(ALWAYS_SHOWN, name),
    );
    return Object.fromEntries(shown.map(([name, field]) => [name, sampleOf(field as JsonSchema, name)]));
  };
  return sampleOf(json);
}

function plainOf({ type, format, minimum = 0 }: JsonSchema, name: string): unknown {
  if (type === "integer" || type === "number") return minimum > 0 ? minimum : 1;
  if (type === "boolean") return true;
  if (format === "date-time") return "2026-11-20T12:00:00Z";
  return name === "" ? "text" : name.replaceAll("_", " ");
}
