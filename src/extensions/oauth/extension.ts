import type { Extension } from "../../core/extension.ts";
import { oauthContract } from "./contract.ts";
import { deleteExpiredGrants } from "./delete-expired-grants.ts";
import { findAssistant } from "./find-assistant.ts";
import { oauthHandlers } from "./oauth.ts";
import { oauthAddresses } from "./server-metadata.ts";
import { oauthWireContract } from "./wire-contract.ts";

const HOUR_MS = 3_600_000;

export const oauthExtension: Extension = {
  name: "oauth",
  needs: ["public-pages"],
  contract: oauthContract,
  undescribed: oauthWireContract,
  tables: {
    oauth_client: { plain: "id name redirect_uris network created_at last_used_at" },
    oauth_grant: {
      plain:
        "id account_id user_id client_id client_name redirect_host scopes instance_ids created_at expires_at activated_at last_used_at",
    },
    oauth_code: { plain: "grant_id redirect_uri expires_at used_at", secret: "digest challenge" },
    oauth_token: { plain: "grant_id kind scopes expires_at used_at", secret: "digest" },
  },
  inStatements: {
    // With the grants end their tokens.
    async endUserAccess(trx, userId) {
      await trx.deleteFrom("oauth_grant").where("user_id", "=", userId).execute();
    },
  },
  hooks: ({ config, requestDb }) => ({
    assistants: {
      find: (digest) => findAssistant(requestDb, digest),
      resourceMetadataUrl: oauthAddresses(config.baseUrl).resourceMetadata,
    },
  }),
  open: ({ config, db, requestDb, outgoing, secrets, signIn }) => ({
    handlers: oauthHandlers({ db: requestDb, outgoing, baseUrl: config.baseUrl, secrets, signIn }),
    recurringJobs: [{ name: "expired-assistants", everyMs: HOUR_MS, run: () => deleteExpiredGrants(db) }],
  }),
};
