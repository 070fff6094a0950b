import { CORE_EVENT_PAYLOADS, type EventPayloads } from "../core/event-payloads.ts";
import type { Extension } from "../core/extension.ts";
import { setStatementHooks } from "../core/statement-hooks.ts";
import { adminExtension } from "../extensions/admin/extension.ts";
import { assistantToolsExtension } from "../extensions/assistant-tools/extension.ts";
import { backupsExtension } from "../extensions/backups/extension.ts";
import { campaignsExtension } from "../extensions/campaigns/extension.ts";
import { consentExtension } from "../extensions/consent/extension.ts";
import { crmExtension } from "../extensions/crm/extension.ts";
import { integrationsExtension } from "../extensions/integrations/extension.ts";
import { labelsExtension } from "../extensions/labels/extension.ts";
import { linkingExtension } from "../extensions/linking/extension.ts";
import { natsExtension } from "../extensions/nats/extension.ts";
import { oauthExtension } from "../extensions/oauth/extension.ts";
import { panelExtension } from "../extensions/panel/extension.ts";
import { privacyExtension } from "../extensions/privacy/extension.ts";
import { publicPagesExtension } from "../extensions/public-pages/extension.ts";
import { quickRepliesExtension } from "../extensions/quick-replies/extension.ts";
import { rabbitmqExtension } from "../extensions/rabbitmq/extension.ts";
import { sandboxExtension } from "../extensions/sandbox/extension.ts";
import { statusesExtension } from "../extensions/statuses/extension.ts";
import { webhookFormatsExtension } from "../extensions/webhook-formats/extension.ts";

/** Everything that this program has beside its core, each after those that it needs. */
export const EXTENSIONS: readonly Extension[] = [
  publicPagesExtension,
  webhookFormatsExtension,
  natsExtension,
  rabbitmqExtension,
  consentExtension,
  campaignsExtension,
  crmExtension,
  quickRepliesExtension,
  integrationsExtension,
  labelsExtension,
  statusesExtension,
  linkingExtension,
  oauthExtension,
  privacyExtension,
  backupsExtension,
  adminExtension,
  assistantToolsExtension,
  panelExtension,
  sandboxExtension,
];

setStatementHooks(EXTENSIONS);

/** Every event that this program records. */
export const EVENT_PAYLOADS: EventPayloads = Object.assign(
  {},
  CORE_EVENT_PAYLOADS,
  ...EXTENSIONS.map(({ events }) => events),
);
