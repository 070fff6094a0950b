import { z } from "zod";
import * as type from "./setting-types.ts";

/** Settings that hold credentials or encryption keys. */
export const SECRET_SETTINGS = {
  secretKey: type
    .strongSecret()
    .optional()
    .describe(
      "Encrypts session credentials and webhook secrets. 32 or more random characters (`openssl rand -base64 32`), the same on every node. Required with `DATABASE_URL`; otherwise the first start generates it in the data directory.",
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
      "A second key that decrypts existing secrets while you change `WAYGATE_SECRET_KEY`. See docs/guides/accounts.md.",
    )
    .meta({ env: "WAYGATE_SECRET_KEY_SECOND" }),
  adminToken: type
    .secret(32)
    .optional()
    .describe("Token of the administrative routes, 32 characters or more. Not set: these routes are closed.")
    .meta({ env: "WAYGATE_ADMIN_TOKEN" }),
  adminTokenSecond: type
    .secret(32)
    .optional()
    .describe("A second valid administrative token, for the time in which you replace the first one.")
    .meta({ env: "WAYGATE_ADMIN_TOKEN_SECOND" }),
  adminFrom: type
    .cidrs()
    .prefault("")
    .describe("Addresses and CIDRs from which the administrative token is accepted.")
    .meta({ env: "WAYGATE_ADMIN_FROM", shown: "everywhere" }),
  ownerEmail: z
    .string()
    .optional()
    .describe("E-mail of the owner, whom the first start creates. Ignored once an owner exists.")
    .meta({ env: "WAYGATE_OWNER_EMAIL" }),
  ownerPassword: type
    .secret(1)
    .optional()
    .describe(
      "Password of the owner, 12 to 1024 characters. Not set: the first start generates one and prints it once.",
    )
    .meta({ env: "WAYGATE_OWNER_PASSWORD", shown: "generated" }),
  jwtLifetimeSeconds: type
    .duration("1m", "30d")
    .transform((ms) => Math.round(ms / 1000))
    .prefault("12h")
    .describe("How long a sign-in is valid. Then the user signs in again.")
    .meta({ env: "WAYGATE_JWT_LIFETIME" }),
  backupKey: type
    .strongSecret()
    .optional()
    .describe(
      "Encrypts backups. 32 or more random characters, the same on every node, and not `WAYGATE_SECRET_KEY`. Store it apart from the backups: without it they cannot be restored. See docs/operation/backups.md.",
    )
    .meta({ env: "WAYGATE_BACKUP_KEY", shown: "generated in the data directory" }),
};
