import { type Kysely, sql } from "kysely";
import { accounts } from "./0001-schema/accounts.ts";
import { administration } from "./0001-schema/administration.ts";
import { contacts } from "./0001-schema/contacts.ts";
import { crm } from "./0001-schema/crm.ts";
import { engine } from "./0001-schema/engine.ts";
import { events } from "./0001-schema/events.ts";
import { instances } from "./0001-schema/instances.ts";
import { integrations } from "./0001-schema/integrations.ts";
import { media } from "./0001-schema/media.ts";
import { messages } from "./0001-schema/messages.ts";
import { oauth } from "./0001-schema/oauth.ts";
import { sandbox } from "./0001-schema/sandbox.ts";

const PARTS = [
  ...[engine, accounts, oauth, instances, contacts, messages, events],
  ...[crm, integrations, administration, sandbox, media],
];

/** Every table of version 2.0.0, one part for each group of features. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(PARTS.join("")).execute(db);
}
