import { sql } from "kysely";
import type { Extension } from "../../core/extension.ts";
import { linkingContract } from "./contract.ts";
import { linkingHandlers } from "./linking.ts";

export const linkingExtension: Extension = {
  name: "linking",
  contract: linkingContract,
  tables: {
    instance_link: { plain: "account_id instance_id created_at expires_at", secret: "digest browser" },
  },
  inStatements: {
    // Keys that have ended make no further links.
    async endKeyAccess(trx, instances) {
      await sql`delete from instance_link where instance_id in (${instances})`.execute(trx);
    },
  },
  open: ({ config, requestDb: db, engine, findCountry, findPairingSession }) => ({
    handlers: linkingHandlers({
      db,
      engine,
      findCountry,
      findPairingSession,
      baseUrl: config.baseUrl,
      timeoutMs: config.ackTimeoutMs,
    }),
  }),
};
