import type { FirstMessages } from "../locales.ts";
import { account } from "./pt-br/account.ts";
import { administration } from "./pt-br/administration.ts";
import { alerts } from "./pt-br/alerts.ts";
import { campaigns } from "./pt-br/campaigns.ts";
import { common } from "./pt-br/common.ts";
import { conversations } from "./pt-br/conversations.ts";
import { crm } from "./pt-br/crm.ts";
import { entry } from "./pt-br/entry.ts";
import { faults } from "./pt-br/faults.ts";
import { home } from "./pt-br/home.ts";
import { instancePages } from "./pt-br/instance-pages.ts";
import { instances } from "./pt-br/instances.ts";
import { send } from "./pt-br/send.ts";
import { settings } from "./pt-br/settings.ts";
import { shell } from "./pt-br/shell.ts";

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
  ...faults,
  ...conversations,
  ...campaigns,
  ...crm,
  ...account,
  ...administration,
} satisfies FirstMessages;
