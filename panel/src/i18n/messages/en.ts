import { account } from "./en/account.ts";
import { administration } from "./en/administration.ts";
import { alerts } from "./en/alerts.ts";
import { campaigns } from "./en/campaigns.ts";
import { common } from "./en/common.ts";
import { conversations } from "./en/conversations.ts";
import { crm } from "./en/crm.ts";
import { entry } from "./en/entry.ts";
import { faults } from "./en/faults.ts";
import { home } from "./en/home.ts";
import { instancePages } from "./en/instance-pages.ts";
import { instances } from "./en/instances.ts";
import { send } from "./en/send.ts";
import { settings } from "./en/settings.ts";
import { shell } from "./en/shell.ts";

/** English is the source: the other languages have exactly these keys. */
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
  ...faults,
  ...conversations,
  ...campaigns,
  ...crm,
  ...account,
  ...administration,
} as const;
