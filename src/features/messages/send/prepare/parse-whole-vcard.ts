import { readVcard } from "../../../../network/read-vcard.ts";
import { invalidField } from "../../../../platform/gateway-error.ts";

/** The name and the first phone of a whole vCard. Throws VALIDATION_ERROR for text that is not a vCard. */
export function parseWholeVcard(text: string): { name?: string; phone?: string } {
  const { begins, ends, name, phones } = readVcard(text);
  if (!begins) throw invalidField("vcard", "does not begin with BEGIN:VCARD");
  if (!ends) throw invalidField("vcard", "does not end with END:VCARD");
  return { name, phone: phones[0]?.number };
}
