import { accountsContract } from "./features/accounts/contract.ts";
import { adminContract } from "./features/admin/contract.ts";
import { assistantToolsContract } from "./features/assistant-tools/contract.ts";
import { backupsContract } from "./features/backups/contract.ts";
import { campaignsContract } from "./features/campaigns/contract.ts";
import { chatsContract } from "./features/chats/contract.ts";
import { consentContract } from "./features/consent/contract.ts";
import { contactsContract } from "./features/contacts/contract.ts";
import { crmContract } from "./features/crm/contract.ts";
import { eventsContract } from "./features/events/contract.ts";
import { groupsContract } from "./features/groups/contract.ts";
import { healthContract } from "./features/health/contract.ts";
import { instanceLogsContract } from "./features/instance-logs/contract.ts";
import { apiKeysContract, instancesContract, proxyContract } from "./features/instances/contract.ts";
import { integrationsContract } from "./features/integrations/contract.ts";
import { linkingContract } from "./features/linking/contract.ts";
import { mediaContract } from "./features/media/contract.ts";
import { messagesContract } from "./features/messages/contract.ts";
import { oauthContract } from "./features/oauth/contract.ts";
import { plansContract } from "./features/plans/contract.ts";
import { privacyContract } from "./features/privacy/contract.ts";
import { profileContract } from "./features/profile/contract.ts";
import { publicPagesContract } from "./features/public-pages/contract.ts";
import { quickRepliesContract } from "./features/quick-replies/contract.ts";
import { sandboxContract } from "./features/sandbox/contract.ts";
import { sessionsContract } from "./features/sessions/contract.ts";
import { webhooksContract } from "./features/webhooks/contract.ts";

/** Everything that the gateway can be asked, one row per route. */
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
  ...contactsContract,
  ...chatsContract,
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
