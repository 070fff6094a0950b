import { GatewayError } from "../../gateway-error.ts";

const MOST_FIELDS = 1_000;

/** The fields of an HTML form; a name may occur once. Throws VALIDATION_ERROR. */
export function parseFormBody(bytes: Buffer): Record<string, string> {
  const text = bytes.toString("utf8");
  if (text.split("&", MOST_FIELDS + 1).length > MOST_FIELDS)
    throw new GatewayError("VALIDATION_ERROR", `The form has more than ${MOST_FIELDS} fields.`);
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name))
      throw new GatewayError(
        "VALIDATION_ERROR",
        `The form has the field ${name.slice(0, 100)} more than once.`,
      );
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
