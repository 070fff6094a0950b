import { sql } from "kysely";
import {
  emptied,
  eraseValue,
  hasAddressIn,
  numberedName,
  pseudonymousAddress,
  ROWS_AT_ONCE,
  reworded,
  type TableDeclarations,
} from "../../core/personal-data/personal-data.ts";

/** Whether a row of `campaign_recipient` is about the person. */
export const isRecipient = hasAddressIn("phone", "person");

/** Campaigns and their recipients. */
export const CAMPAIGN_TABLES = {
  campaign_recipient: {
    plain: "id account_id campaign_id status reason message planned_at decided_at created_at",
    personal: {
      phone: pseudonymousAddress("leads", "conversations"),
      person: eraseValue("leads", "conversations"),
      variables: emptied("leads", "messages"),
    },
    foundBy: (run, within) => sql`
      select t.id from (select id from campaign where account_id = ${run.account_id}) c cross join lateral (
        select id from campaign_recipient where campaign_id = c.id and ${within}) t
      order by t.id limit ${ROWS_AT_ONCE}`,
    ofPerson: isRecipient,
    knownBy: "phone",
    exportedAs: "campaignRecipients",
  },
  campaign: {
    plain:
      "id account_id instance_id lane status status_reason min_delay_ms max_delay_ms scheduled_at quiet_hours daily_limit consent_purpose stop_on_error_rate next_at waiting totals started_at resumed_at ended_at archived_at created_at updated_at",
    personal: {
      name: numberedName("messages"),
      message_template: reworded("messages"),
      media: eraseValue("messages"),
    },
    foundBy: "account_id",
    exportedAs: "campaigns",
    internal: "lane media.shared",
  },
} as const satisfies TableDeclarations;
