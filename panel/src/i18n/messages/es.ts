import type { FirstMessages } from "../locales.ts";
import { account } from "./es/account.ts";
import { administration } from "./es/administration.ts";
import { alerts } from "./es/alerts.ts";
import { campaigns } from "./es/campaigns.ts";
import { common } from "./es/common.ts";
import { conversations } from "./es/conversations.ts";
import { crm } from "./es/crm.ts";
import { entry } from "./es/entry.ts";
import { faults } from "./es/faults.ts";
import { home } from "./es/home.ts";
import { instancePages } from "./es/instance-pages.ts";
import { instances } from "./es/instances.ts";
import { send } from "./es/send.ts";
import { settings } from "./es/settings.ts";
import { shell } from "./es/shell.ts";

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
  ...faults,
  ...conversations,
  ...campaigns,
  ...crm,
  ...account,
  ...administration,
} satisfies FirstMessages;
