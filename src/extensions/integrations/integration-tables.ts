import { sql } from "kysely";
import {
  eraseValue,
  hasAddressIn,
  pseudonymousAddressIfAny,
  replaceWith,
  type TableDeclarations,
} from "../../core/personal-data/personal-data.ts";

/** Integrations, and the chats and messages that they link. */
export const INTEGRATION_TABLES = {
  integration_link: {
    plain:
      "id account_id integration_id message_id part provider_conversation_id provider_message_id origin status attempts created_at updated_at",
    personal: { chat: pseudonymousAddressIfAny("conversations"), error: eraseValue("messages") },
    foundBy: "account_id",
    ofPerson: hasAddressIn("chat"),
    exportedAs: "integrationLinks",
  },
  integration_chat: {
    plain: "account_id integration_id replies replies_since pauses replies_paused_until updated_at",
    deleted: { columns: "chat provider_conversation_id state", parts: ["messages"] },
    foundBy: "account_id",
    ofPerson: hasAddressIn("chat"),
  },
  integration_inbound: {
    plain: "id account_id integration_id created_at",
    deleted: { columns: "delivery body", parts: ["messages"] },
    foundBy: "account_id",
    // Not behind or before a digit: a longer number is another person's, whose reply would be lost.
    ofPerson: ({ addresses }) =>
      sql`body::text ~ any(${addresses.map((address) => `(?<!\\d)${address.replaceAll(".", "\\.")}(?!\\d)`)}::text[])`,
  },
  integration: {
    plain:
      "id account_id instance_id provider enabled lane inbound_lane event_names exclude status last_error_code last_error_params last_error_at last_success_at paused_until refused_since created_at updated_at",
    secret: "secret state",
    personal: {
      config: replaceWith(
        sql`config || case when config ? 'ignore_jids' then '{"ignore_jids": []}'::jsonb else '{}' end`,
        "conversations",
      ),
      last_error: eraseValue("messages"),
    },
    foundBy: "account_id",
    exportedAs: "integrations",
    internal: "lane inbound_lane config",
  },
} as const satisfies TableDeclarations;
