import { account } from "./pt-br/account.ts";
import { administration } from "./pt-br/administration.ts";
import { alerts } from "./pt-br/alerts.ts";
import { campaigns } from "./pt-br/campaigns.ts";
import { common, entry, home, send, settings, shell } from "./pt-br/common.ts";
import { conversations } from "./pt-br/conversations.ts";
import { crm } from "./pt-br/crm.ts";
import { errors } from "./pt-br/errors.ts";
import { instancePages, instances } from "./pt-br/instances.ts";
import type { FirstMessages } from "./translated.ts";

export const ptBr = {
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
