import { sql } from "kysely";
import type { Db } from "../../../platform/db/database.ts";
import type { Secret } from "../../../platform/secrets/secret.ts";
import { isEmail, OWNER_EMAIL } from "./create-account.ts";
import { findPasswordLengthProblem } from "./find-password-problem.ts";
import { createPasswordHasher } from "./password-hasher.ts";

interface OwnerSettings {
  ownerEmail?: string | undefined;
  ownerPassword?: Secret | undefined;
}

/** Problems of the owner's settings, one line each. The first start also estimates the password's strength. */
export function findOwnerSettingProblems({ ownerEmail, ownerPassword }: OwnerSettings): string[] {
  const problems: string[] = [];
  if (ownerEmail !== undefined && !isEmail(ownerEmail)) {
    problems.push("WAYGATE_OWNER_EMAIL must be an e-mail address");
  }
  const fault = ownerPassword && findPasswordLengthProblem(ownerPassword.reveal());
  if (fault) problems.push(`WAYGATE_OWNER_PASSWORD ${fault.issue}`);
  return problems;
}

/** A warning if the settings differ from the existing owner's sign-in: only the first start uses them. */
export async function describeIgnoredOwnerSetting(
  db: Db,
  { ownerEmail, ownerPassword }: OwnerSettings,
): Promise<string | undefined> {
  if (ownerEmail === undefined && ownerPassword === undefined) return undefined;
  const email = ownerEmail ?? OWNER_EMAIL;
  const users = await db
    .selectFrom("account_user")
    .innerJoin("account", "account.id", "account_user.account_id")
    .select("account_user.password_hash")
    .where("account.account_type", "=", "owner")
    .where(sql<string>`lower(account_user.email)`, "=", email.toLowerCase())
    .execute();
  const once = "It counts at the first start only";
  if (users.length === 0) return `WAYGATE_OWNER_EMAIL is not the e-mail of a user of the owner. ${once}.`;
  if (ownerPassword === undefined) return undefined;
  const passwords = createPasswordHasher();
  const fits = await Promise.all(
    users.map(({ password_hash }) => passwords.verify(password_hash, ownerPassword.reveal())),
  );
  if (fits.includes(true)) return undefined;
  return `WAYGATE_OWNER_PASSWORD is not the password of ${email}. ${once}; "waygate account password ${email}" makes a new one.`;
}
