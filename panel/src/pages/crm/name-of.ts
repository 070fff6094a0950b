import { formatPhone } from "../../components/format-phone.ts";
import type { Lead } from "./crm-queries.ts";

/** What a contact is called: its name, otherwise what is known of it. */
export function nameOf({
  name,
  phone,
  email,
  lid,
  id,
}: Pick<Lead, "name" | "phone" | "email" | "lid" | "id">): string {
  return name ?? (phone === null ? (email ?? lid ?? `#${id}`) : formatPhone(phone));
}
