import { sql } from "kysely";
import {
  emptied,
  eraseValue,
  hasAddressIn,
  numberedName,
  pseudonymousAddress,
  replaceWith,
  reworded,
  type TableDeclarations,
} from "../../core/personal-data/personal-data.ts";

/** Leads, and what belongs to them. */
export const LEAD_TABLES = {
  lead_note: {
    plain: "id account_id lead_id user_id created_at",
    personal: { note: reworded("leads") },
    foundBy: "account_id",
    ofPerson: ({ leads }) => sql`lead_id = any(${leads}::bigint[])`,
    exportedAs: "leadNotes",
  },
  lead: {
    plain: "id account_id status kanban_status opted_out_at created_at updated_at",
    personal: {
      phone: pseudonymousAddress("leads"),
      lid: pseudonymousAddress("leads"),
      name: numberedName("leads"),
      email: eraseValue("leads"),
      tags: replaceWith(sql`'{}'::text[]`, "leads"),
      custom_fields: emptied("leads"),
    },
    foundBy: "account_id",
    ofPerson: (person) =>
      sql`(id = any(${person.leads}::bigint[]) or ${hasAddressIn("phone", "lid")(person)})`,
    knownBy: "phone lid",
    exportedAs: "leads",
  },
  custom_field: {
    plain: "id account_id type created_at",
    personal: { name: numberedName("account"), options: replaceWith(sql`'{}'::text[]`, "account") },
    foundBy: "account_id",
    exportedAs: "customFields",
  },
} as const satisfies TableDeclarations;
