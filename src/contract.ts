import { accountsContract } from "./core/accounts/contract.ts";
import { chatsContract } from "./core/chats/contract.ts";
import { contactsContract } from "./core/contacts/contract.ts";
import { eventsContract } from "./core/events/contract.ts";
import { groupsContract } from "./core/groups/contract.ts";
import { healthContract } from "./core/health/contract.ts";
import { instanceLogsContract } from "./core/instance-logs/contract.ts";
import { apiKeysContract, instancesContract, proxyContract } from "./core/instances/contract.ts";
import { mediaContract } from "./core/media/contract.ts";
import { messagesContract } from "./core/messages/contract.ts";
import { pollsContract } from "./core/messages/polls/contract.ts";
import { plansContract } from "./core/plans/contract.ts";
import { profileContract } from "./core/profile/contract.ts";
import { sessionsContract } from "./core/sessions/contract.ts";
import { webhooksContract } from "./core/webhooks/contract.ts";
import { adminContract } from "./extensions/admin/contract.ts";
import { assistantToolsContract } from "./extensions/assistant-tools/contract.ts";
import { backupsContract } from "./extensions/backups/contract.ts";
import { campaignsContract } from "./extensions/campaigns/contract.ts";
import { consentContract } from "./extensions/consent/contract.ts";
import { crmContract } from "./extensions/crm/contract.ts";
import { integrationsContract } from "./extensions/integrations/contract.ts";
import { labelsContract } from "./extensions/labels/contract.ts";
import { linkingContract } from "./extensions/linking/contract.ts";
import { oauthContract } from "./extensions/oauth/contract.ts";
import { privacyContract } from "./extensions/privacy/contract.ts";
import { publicPagesContract } from "./extensions/public-pages/contract.ts";
import { quickRepliesContract } from "./extensions/quick-replies/contract.ts";
import { sandboxContract } from "./extensions/sandbox/contract.ts";
import { statusesContract } from "./extensions/statuses/contract.ts";

/** Everything that a gateway can be asked, one row per route. */
export const contract = {
  ...accountsContract,
  ...plansContract,
  ...adminContract,
  ...backupsContract,
  ...instancesContract,
  ...sessionsContract,
  ...apiKeysContract,
  ...proxyContract,
  ...linkingContract,
  ...instanceLogsContract,
  ...messagesContract,
  ...pollsContract,
  ...contactsContract,
  ...chatsContract,
  ...labelsContract,
  ...statusesContract,
  ...mediaContract,
  ...groupsContract,
  ...profileContract,
  ...campaignsContract,
  ...crmContract,
  ...quickRepliesContract,
  ...privacyContract,
  ...consentContract,
  ...eventsContract,
  ...webhooksContract,
  ...integrationsContract,
  ...assistantToolsContract,
  ...oauthContract,
  ...sandboxContract,
  ...healthContract,
  ...publicPagesContract,
};
