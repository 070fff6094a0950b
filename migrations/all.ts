import type { Migration } from "kysely";
import * as engine from "./0001-engine.ts";
import * as accounts from "./0002-accounts.ts";
import * as instances from "./0003-instances.ts";
import * as messages from "./0004-messages.ts";
import * as events from "./0005-events.ts";
import * as sandbox from "./0006-sandbox.ts";
import * as mediaAndActions from "./0007-media-and-actions.ts";
import * as secretCheck from "./0008-secret-check.ts";
import * as webhookRemoval from "./0009-webhook-removal.ts";
import * as readsAndWaitingSends from "./0010-reads-and-waiting-sends.ts";
import * as whatsapp from "./0011-whatsapp.ts";
import * as contactsAndChats from "./0012-contacts-and-chats.ts";
import * as media from "./0013-media.ts";
import * as groups from "./0014-groups.ts";
import * as limits from "./0015-limits.ts";
import * as campaigns from "./0016-campaigns.ts";
import * as administration from "./0017-administration.ts";
import * as backups from "./0019-backups.ts";
import * as privacy from "./0020-privacy.ts";
import * as integrations from "./0021-integrations.ts";
import * as webhookFormat from "./0022-webhook-format.ts";
import * as unlinkedLeads from "./0024-unlinked-leads.ts";
import * as heldByOwner from "./0025-held-by-owner.ts";
import * as registration from "./0026-registration.ts";
import * as linking from "./0028-linking.ts";
import * as clientVersion from "./0030-client-version.ts";
import * as sendBreaker from "./0033-send-breaker.ts";
import * as sandboxAccounts from "./0036-sandbox-accounts.ts";
import * as storageQuota from "./0038-storage-quota.ts";
import * as keyScope from "./0040-key-scope.ts";
import * as signIns from "./0041-sign-ins.ts";
import * as resellerCustomers from "./0042-reseller-customers.ts";
import * as chatwootAddress from "./0043-chatwoot-address.ts";
import * as webhookAddresses from "./0044-webhook-addresses.ts";
import * as sandboxTokens from "./0045-sandbox-tokens.ts";
import * as accountRemoval from "./0046-account-removal.ts";
import * as onePerson from "./0047-one-person.ts";
import * as replyLimit from "./0050-reply-limit.ts";
import * as messageReceipts from "./0054-message-receipts.ts";
import * as campaignArchive from "./0057-campaign-archive.ts";
import * as figures from "./0058-figures.ts";
import * as integrationRefusals from "./0061-integration-refusals.ts";
import * as waitingFiles from "./0068-waiting-files.ts";
import * as retention from "./0069-retention.ts";
import * as tableNames from "./0070-table-names.ts";
import * as oauth from "./0075-oauth.ts";
import * as welcomeLink from "./0076-welcome-link.ts";
import * as ownReceiver from "./0078-own-receiver.ts";
import * as webhookErrorClass from "./0079-webhook-error-class.ts";
import * as integrationErrorCode from "./0080-integration-error-code.ts";

/** Every migration in order; forward only. */
export const migrations: Record<string, Migration> = {
  "0001-engine": engine,
  "0002-accounts": accounts,
  "0003-instances": instances,
  "0004-messages": messages,
  "0005-events": events,
  "0006-sandbox": sandbox,
  "0007-media-and-actions": mediaAndActions,
  "0008-secret-check": secretCheck,
  "0009-webhook-removal": webhookRemoval,
  "0010-reads-and-waiting-sends": readsAndWaitingSends,
  "0011-whatsapp": whatsapp,
  "0012-contacts-and-chats": contactsAndChats,
  "0013-media": media,
  "0014-groups": groups,
  "0015-limits": limits,
  "0016-campaigns": campaigns,
  "0017-administration": administration,
  "0021-integrations": integrations,
  "0019-backups": backups,
  "0020-privacy": privacy,
  "0022-webhook-format": webhookFormat,
  "0024-unlinked-leads": unlinkedLeads,
  "0025-held-by-owner": heldByOwner,
  "0026-registration": registration,
  "0030-client-version": clientVersion,
  "0033-send-breaker": sendBreaker,
  "0036-sandbox-accounts": sandboxAccounts,
  "0038-storage-quota": storageQuota,
  "0040-key-scope": keyScope,
  "0041-sign-ins": signIns,
  "0042-reseller-customers": resellerCustomers,
  "0043-chatwoot-address": chatwootAddress,
  "0047-one-person": onePerson,
  "0028-linking": linking,
  "0057-campaign-archive": campaignArchive,
  "0058-figures": figures,
  "0044-webhook-addresses": webhookAddresses,
  "0045-sandbox-tokens": sandboxTokens,
  "0050-reply-limit": replyLimit,
  "0046-account-removal": accountRemoval,
  "0054-message-receipts": messageReceipts,
  "0061-integration-refusals": integrationRefusals,
  "0068-waiting-files": waitingFiles,
  "0069-retention": retention,
  "0070-table-names": tableNames,
  "0075-oauth": oauth,
  "0076-welcome-link": welcomeLink,
  "0078-own-receiver": ownReceiver,
  "0079-webhook-error-class": webhookErrorClass,
  "0080-integration-error-code": integrationErrorCode,
};
