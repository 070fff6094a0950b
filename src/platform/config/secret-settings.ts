import { z } from "zod";
import * as type from "./setting-types.ts";

/** Settings that hold credentials or encryption keys. */
export const SECRET_SETTINGS = {
  secretKey: type
    .strongSecret()
    .optional()
    .describe(
      "Encrypts session credentials and webhook secrets; every node needs the same. 32 or more random characters (`openssl rand -base64 32`). Required with `DATABASE_URL`; made in the data directory on the first start of an embedded database.",
    )
    .meta({
      section: "Secrets and sign-in",
      env: "WAYGATE_SECRET_KEY",
      shown: "generated when the database is embedded",
    }),
  secretKeySecond: type
    .strongSecret()
    .optional()
    .describe(
      "A second key that opens what was sealed with it, while `WAYGATE_SECRET_KEY` is being changed; see docs/guides/accounts.md.",
    )
    .meta({ env: "WAYGATE_SECRET_KEY_SECOND" }),
  adminToken: type
    .secret(32)
    .optional()
    .describe("Token of the administrative routes, 32 characters or more. Not set: those routes are closed.")
    .meta({ env: "WAYGATE_ADMIN_TOKEN" }),
  adminTokenSecond: type
    .secret(32)
    .optional()
    .describe("A second administrative token that is as good, while one takes the place of the other.")
    .meta({ env: "WAYGATE_ADMIN_TOKEN_SECOND" }),
  adminFrom: type
    .cidrs()
    .prefault("")
    .describe("Addresses and CIDRs from where an administrative token is taken. Not set: from everywhere.")
    .meta({ env: "WAYGATE_ADMIN_FROM", shown: "everywhere" }),
  ownerEmail: z
    .string()
    .optional()
    .describe("E-mail of the owner made on the first start. Read only while there is no owner.")
    .meta({ env: "WAYGATE_OWNER_EMAIL" }),
  ownerPassword: type
    .secret(1)
    .optional()
    .describe("Password of the owner, 12 to 1024 characters. Not set: one is generated and printed once.")
    .meta({ env: "WAYGATE_OWNER_PASSWORD", shown: "generated" }),
  jwtLifetimeSeconds: type
    .duration("1m", "30d")
    .transform((ms) => Math.round(ms / 1000))
    .prefault("12h")
    .describe("How long a sign-in lasts.")
    .meta({ env: "WAYGATE_JWT_LIFETIME" }),
  backupKey: type
    .strongSecret()
    .optional()
    .describe(
      "Encrypts backups; every node needs the same, and it must not be `WAYGATE_SECRET_KEY`. 32 or more random characters. Keep it elsewhere than the backups: without it they cannot be restored. Not set: one is made in the data directory (`backup-key`); see docs/operation/backups.md.",
    )
    .meta({ env: "WAYGATE_BACKUP_KEY", shown: "generated in the data directory" }),
};
