import { account } from "./es/account.ts";
import { administration } from "./es/administration.ts";
import { alerts } from "./es/alerts.ts";
import { campaigns } from "./es/campaigns.ts";
import { common, entry, home, send, settings, shell } from "./es/common.ts";
import { conversations } from "./es/conversations.ts";
import { crm } from "./es/crm.ts";
import { errors } from "./es/errors.ts";
import { instancePages, instances } from "./es/instances.ts";
import type { FirstMessages } from "./translated.ts";

export const es = {
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
} satisfies FirstMessages;
