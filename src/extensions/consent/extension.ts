import { sql } from "kysely";
import type { Extension } from "../../core/extension.ts";
import { eraseValue, hasAddressIn, pseudonymousAddress } from "../../core/personal-data/personal-data.ts";
import { consentHandlers } from "./consent-handlers.ts";
import { consentContract } from "./contract.ts";

export const consentExtension: Extension = {
  name: "consent",
  contract: consentContract,
  tables: {
    consent: {
      plain:
        "id account_id user_id lead_id subject purpose consent_type granted text_version text_hash channel created_at",
      personal: { phone: pseudonymousAddress("leads"), ip: eraseValue("leads", "account") },
      foundBy: "account_id",
      ofPerson: (person) =>
        sql`(lead_id = any(${person.leads}::bigint[]) or ${hasAddressIn("phone")(person)})`,
      knownBy: "phone",
      exportedAs: "consentRecords",
    },
    suppression: {
      plain: "account_id reason created_at",
      retained: { columns: "digest", because: "people who have opted out must never be written to again" },
    },
  },
  open: ({ requestDb: db, findCountry }) => ({ handlers: consentHandlers({ db, findCountry }) }),
};
