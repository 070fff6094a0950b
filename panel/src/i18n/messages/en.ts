import { account } from "./en/account.ts";
import { administration } from "./en/administration.ts";
import { alerts } from "./en/alerts.ts";
import { campaigns } from "./en/campaigns.ts";
import { common, entry, home, send, settings, shell } from "./en/common.ts";
import { conversations } from "./en/conversations.ts";
import { crm } from "./en/crm.ts";
import { errors } from "./en/errors.ts";
import { instancePages, instances } from "./en/instances.ts";

/** English is the source. The other languages have the same keys. */
export const en = {
  ...common,
  ...shell,
  ...entry,
  ...settings,
  ...instances,
  ...instancePages,
  ...send,
  ...home,
  ...alerts,
  ...errors,
  ...conversations,
  ...campaigns,
  ...crm,
  ...account,
  ...administration,
} as const;
