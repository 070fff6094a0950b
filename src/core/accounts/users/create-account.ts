import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { type Db, isUniqueViolation, type Trx } from "../../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../../platform/gateway-error.ts";
import type { Secret } from "../../../platform/secrets/secret.ts";
import { findPasswordProblem } from "./find-password-problem.ts";
import { hashPassword } from "./password-hasher.ts";

export const OWNER_EMAIL = "owner@localhost";
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

export interface NewAccount {
  name: string;
  account_type: "owner" | "reseller" | "client";
  /** Sign-in of the account's first user. */
  email: string;
  password: string;
  /** Whether the panel asks for another one. Default: false. */
  must_change_password?: boolean;
  /** Name of the user. Default: the account's name. */
  user_name?: string;
  /** Default: the default plan. */
  plan_id?: number;
  parent_id?: number | null;
  status?: "active" | "trial";
  trial_ends_at?: Date | null;
  default_country?: string | null;
}

/** Creates an account and its user. Throws VALIDATION_ERROR (weak password) or CONFLICT (used e-mail). */
export async function createAccount(
  db: Db,
  input: NewAccount,
): Promise<{ account_id: number; user_id: number }> {
  await validateSignInDetails(input);
  const password_hash = await hashPassword(input.password);
  return db.transaction().execute((trx) => insertAccount(trx, input, password_hash));
}

/** Rejects with VALIDATION_ERROR unless the e-mail and password are valid for a new account. */
export async function validateSignInDetails({ email, password, name }: NewAccount): Promise<void> {
  requireEmail(email);
  const fault = await findPasswordProblem(password, [email, name]);
  if (fault) throw invalidField("password", fault.issue, fault.code, fault.params);
}

/** A random password, to be shown once. */
export function generatePassword(): string {
  return randomBytes(18).toString("base64url");
}

/** Creates the owner's account if it is missing; returns a generated password. Throws VALIDATION_ERROR. */
export async function ensureOwner(
  db: Db,
  { ownerEmail, ownerPassword, node }: { ownerEmail?: string; ownerPassword?: Secret; node?: string },
): Promise<{ email: string; password?: string } | undefined> {
  if (await hasOwner(db)) return undefined;
  const email = ownerEmail ?? OWNER_EMAIL;
  const made = ownerPassword ? undefined : generatePassword();
  const password = ownerPassword?.reveal() ?? made ?? "";
  const fault = made ? undefined : await findPasswordProblem(password, [email]);
  if (fault) throw invalidField("WAYGATE_OWNER_PASSWORD", fault.issue, fault.code, fault.params);
  const password_hash = await hashPassword(password);
  const isMade = await db.transaction().execute(async (trx) => {
    // Several processes may start at once on an empty database: each waits for the first one.
    await sql`set local lock_timeout = 0`.execute(trx);
    await sql`select pg_advisory_xact_lock(hashtext('waygate owner'))`.execute(trx);
    if (await hasOwner(trx)) return false;
    const must_change_password = made !== undefined;
    const owner = { name: "Owner", account_type: "owner", email, password, must_change_password } as const;
    const { user_id } = await insertAccount(trx, owner, password_hash);
    if (made) await awaitOwner(trx, user_id, node);
    return true;
  });
  return isMade ? { email, password: made } : undefined;
}

async function awaitOwner(trx: Trx, id: number, node: string | undefined): Promise<void> {
  const state = { awaits_owner: true, unseen_by: node ?? null };
  await trx.updateTable("account_user").set(state).where("id", "=", id).execute();
}

async function hasOwner(db: Db | Trx): Promise<boolean> {
  const owner = await db
    .selectFrom("account")
    .select("id")
    .where("account_type", "=", "owner")
    .limit(1)
    .execute();
  return owner.length > 0;
}

/** Writes an account and its first user. Throws CONFLICT for a used e-mail. */
export async function insertAccount(trx: Trx, input: NewAccount, password_hash: string) {
  const isOwner = input.account_type === "owner";
  const standard = isOwner ? "unlimited" : "standard";
  const { id: account_id } = await trx
    .insertInto("account")
    .values(({ selectFrom }) => ({
      name: input.name,
      account_type: input.account_type,
      plan_id: input.plan_id ?? selectFrom("plan").select("id").where("name", "=", standard),
      settings: JSON.stringify(input.default_country ? { default_country: input.default_country } : {}),
      parent_id: input.parent_id ?? null,
      status: input.status ?? "active",
      trial_ends_at: input.trial_ends_at ?? null,
    }))
    .returning("id")
    .executeTakeFirstOrThrow();
  const { id: user_id } = await trx
    .insertInto("account_user")
    .values({
      account_id,
      name: input.user_name ?? input.name,
      email: input.email,
      role: isOwner ? "super_admin" : "admin",
      password_hash,
      must_change_password: input.must_change_password,
    })
    .returning("id")
    .executeTakeFirstOrThrow()
    .catch(throwEmailConflict);
  return { account_id, user_id };
}

export function isEmail(text: string): boolean {
  return EMAIL.test(text);
}

/** Throws VALIDATION_ERROR. */
export function requireEmail(email: string): void {
  if (!isEmail(email)) throw invalidField("email", "is not an e-mail address", "not_an_email");
}

/** Rethrows an error of writing a user; a used e-mail becomes CONFLICT. */
export function throwEmailConflict(error: unknown): never {
  if (isUniqueViolation(error)) {
    throw new GatewayError("CONFLICT", "The e-mail is already in use. Use another one.", { cause: error });
  }
  throw error;
}
