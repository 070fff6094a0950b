import type { Extension } from "../../core/extension.ts";
import { integrationsContract } from "./contract.ts";
import { waitUntilIntegrationsIdle } from "./delivery/wait-until-integrations-idle.ts";
import { INTEGRATION_EVENT_PAYLOADS } from "./event-payloads.ts";
import { INTEGRATION_ERASURE } from "./integration-erasure.ts";
import { INTEGRATION_REASONS } from "./integration-reasons.ts";
import { INTEGRATION_TABLES } from "./integration-tables.ts";
import { createNodeIntegrations } from "./node-integrations.ts";
import { unregisterIntegrations } from "./unregister-integrations.ts";

const HOUR_MS = 3_600_000;

export const integrationsExtension: Extension = {
  name: "integrations",
  contract: integrationsContract,
  events: INTEGRATION_EVENT_PAYLOADS,
  reasons: {
    shownIn: "An integration has `last_error_code` and `last_error_params`",
    codes: INTEGRATION_REASONS,
  },
  tables: INTEGRATION_TABLES,
  inStatements: {
    subscribers: { table: "integration", lanes: ["lane", "inbound_lane"] },
    erasure: INTEGRATION_ERASURE,
  },
  hooks: ({ db, box, outgoing, log }) => ({
    instanceEnd: {
      report: (id, timeoutMs) => waitUntilIntegrationsIdle(db, id, timeoutMs),
      unregister: (id) => unregisterIntegrations({ db, box, outgoing, log }, id),
    },
  }),
  open({ config, media, ...parts }) {
    const { handlers, lane, pathTokens, tidy } = createNodeIntegrations({
      db: parts.db,
      requestDb: parts.requestDb,
      engine: parts.engine,
      box: parts.box,
      outgoing: parts.outgoing,
      conversations: parts.conversations,
      numbers: parts.numbers,
      findSession: parts.findSession,
      openFile: parts.openFile,
      mediaUrls: media.mediaUrls,
      converter: media.converter,
      maxBytes: config.mediaMaxBytes,
      sendHoldMs: config.sendHoldMs,
      baseUrl: config.baseUrl,
      version: parts.version,
      log: parts.log,
    });
    return {
      handlers,
      pathTokens,
      lanes: [lane],
      recurringJobs: [{ name: "integrations", everyMs: HOUR_MS, run: () => tidy() }],
    };
  },
};
