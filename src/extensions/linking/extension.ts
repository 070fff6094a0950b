import { sql } from "kysely";
import type { Extension } from "../../core/extension.ts";
import { linkingContract } from "./contract.ts";
import { linkingHandlers } from "./linking.ts";

export const linkingExtension: Extension = {
  name: "linking",
  contract: linkingContract,
  inStatements: {
    // Keys that have ended make no further links.
    async endKeyAccess(trx, instances) {
      await sql`delete from instance_link where instance_id in (${instances})`.execute(trx);
    },
    removal: { accountTables: ["instance_link"] },
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
