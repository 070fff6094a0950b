import type { JobResult } from "../../../engine/engine.ts";
import type { EventWork, IntegrationDeps, IntegrationProvider } from "../integration-provider.ts";
import { runInboundTask } from "./agents/run-inbound-task.ts";
import { CHATWOOT_ALIASES, type ChatwootConfig, chatwootConfig } from "./chatwoot-config.ts";
import { type ChatwootContext, createChatwootContext } from "./chatwoot-context.ts";
import { checkInbox } from "./check-inbox.ts";
import { postMessage } from "./post-message.ts";
import { postDeletion, postEdit, postReaction } from "./post-message-change.ts";
import { registerInbox, unregisterInbox } from "./register-inbox.ts";
import { reportFailure, reportStatus } from "./report-status.ts";

/** A support inbox: WhatsApp messages go into the inbox, and agents' replies go out through the instance. */
export function createChatwootProvider(deps: IntegrationDeps): IntegrationProvider {
  return {
    name: "chatwoot",
    config: chatwootConfig,
    aliases: CHATWOOT_ALIASES,
    secrets: ["access_token"],
    address: "url",
    wantsEvents: true,
    wants: (config) => wants(config as ChatwootConfig),
    prepare: (draft) => registerInbox(deps, draft),
    unregister: (integration) => unregisterInbox(deps, integration),
    test: (integration) => checkInbox(deps, integration),
    onEvent: (work) => handleEvent(createChatwootContext(deps, work.integration), work),
    onTask: ({ job, integration, task }) =>
      runInboundTask(createChatwootContext(deps, integration), job, task),
  };
}

function wants({ groups, sync_status }: ChatwootConfig): ReturnType<IntegrationProvider["wants"]> {
  return {
    events: [
      ...(["message.received", "message.sent", "message.failed", "message.edited"] as const),
      ...(["message.deleted", "message.reaction"] as const),
      ...(sync_status ? (["message.delivered", "message.read"] as const) : []),
    ],
    exclude: groups ? [] : ["groups"],
  };
}

async function handleEvent(context: ChatwootContext, { job, event }: EventWork): Promise<JobResult> {
  switch (event.event) {
    case "message.received":
    case "message.sent":
      return postMessage(context, job, event);
    case "message.edited":
      return postEdit(context, job, event);
    case "message.deleted":
      return postDeletion(context, job, event);
    case "message.reaction":
      return postReaction(context, job, event);
    case "message.failed":
      return reportFailure(context, job, event);
    default:
      return reportStatus(context, job, event);
  }
}
