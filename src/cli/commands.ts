import {
  generatePassword,
  insertAccount,
  type NewAccount,
  validateSignInDetails,
} from "../features/accounts/create-account.ts";
import { hashPassword } from "../features/accounts/password-hasher.ts";
import { findUsersToRecover, replacePassword } from "../features/accounts/recover-user-handlers.ts";
import { recordAudit } from "../features/audit/audit.ts";
import { verifyAudit } from "../features/audit/verify-audit.ts";
import { rotateSecrets } from "../features/secrets/rotate-secrets.ts";
import type { Env } from "../platform/config/config.ts";
import type { Db } from "../platform/db/database.ts";
import { StartError, throwSettingError } from "../processes/start-error.ts";
import { COMMAND_ACTOR, withCommandContext } from "./command-database.ts";
import { startProgressPrinter } from "./progress-printer.ts";

export interface CreateAccountCommandOptions {
  name: string;
  email: string;
  type: string;
}

/** Creates an account and prints the password of its first user, once. */
export async function runCreateAccountCommand(
  env: Env,
  { name, email, type }: CreateAccountCommandOptions,
): Promise<void> {
  const account_type = (["owner", "reseller", "client"] as const).find((known) => known === type);
  if (!account_type) throw new StartError("--type must be owner, reseller or client.");
  const given = { name, email, account_type, password: generatePassword() };
  const account_id = await withCommandContext(env, ({ database: { db } }) =>
    writeAccount(db, given).catch(throwSettingError),
  );
  console.log(
    `Account ${account_id} (${account_type}) is made.\nE-mail: ${email}\nPassword: ${given.password}`,
  );
  console.log("The password is shown this once.");
}

/** Sets a new password for a user and prints it, once. */
export async function runRecoverUserCommand(
  env: Env,
  email: string,
  { accountId }: { accountId?: string },
): Promise<void> {
  const account_id = accountId === undefined ? undefined : Number(accountId);
  if (account_id !== undefined && !Number.isSafeInteger(account_id))
    throw new StartError("--account-id must be a number.");
  const password = generatePassword();
  const user = await withCommandContext(env, ({ database: { db } }) =>
    recoverUser(db, { email, account_id, password }),
  );
  console.log(`Account: ${user.account_id}\nE-mail: ${user.email}\nPassword: ${password}`);
  console.log("The password is shown this once. Every sign-in of the user has ended, within five seconds.");
}

async function recoverUser(
  db: Db,
  { password, ...who }: { email: string; account_id?: number; password: string },
) {
  const [found, ...others] = await findUsersToRecover(db, who);
  if (!found) throw new StartError(`There is no user ${who.email}.`);
  if (others.length > 0) {
    const accounts = [found, ...others].map(({ account_id }) => account_id).join(", ");
    throw new StartError(`${who.email} signs in to the accounts ${accounts}. Name one with --account-id.`);
  }
  const password_hash = await hashPassword(password);
  const { user } = await db
    .transaction()
    .execute((trx) => replacePassword(trx, { id: found.id, password_hash, by: COMMAND_ACTOR }));
  return user;
}

async function writeAccount(db: Db, given: NewAccount): Promise<number> {
  validateSignInDetails(given);
  const password_hash = await hashPassword(given.password);
  return db.transaction().execute(async (trx) => {
    const { account_id } = await insertAccount(trx, given, password_hash);
    const target = { type: "account", id: account_id };
    await recordAudit(trx, { by: COMMAND_ACTOR, action: "account.create", target, account_id });
    return account_id;
  });
}

/** Reseals every secret with WAYGATE_SECRET_KEY; the gateway may be running. */
export async function runRotateKeyCommand(env: Env): Promise<void> {
  const { resealed, key_id } = await withCommandContext(env, async ({ database: { db }, box }) => {
    const progress = startProgressPrinter();
    const tell = (column: string, rows: number) => progress.add(rows, `secrets looked at, in ${column}`);
    const rotation = await rotateSecrets(db, box, tell).catch((error: unknown) => {
      throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
    });
    await db.transaction().execute((trx) =>
      recordAudit(trx, {
        ...{ by: COMMAND_ACTOR, action: "secret_key.rotate", target: { type: "secret_key", id: box.key_id } },
        account_id: null,
      }),
    );
    return { ...rotation, key_id: box.key_id };
  });
  for (const [column, count] of Object.entries(resealed)) console.log(`${column}: ${count}`);
  console.log(`Every secret is sealed with key ${key_id} now.`);
  console.log("Take WAYGATE_SECRET_KEY_SECOND away when the sign-ins of the old key have run out.");
}

/** Verifies that the audit log is unchanged. Throws StartError with the first broken entry. */
export async function runVerifyAuditCommand(env: Env, head: string | undefined): Promise<void> {
  if (head !== undefined && !/^[\da-f]{64}$/i.test(head))
    throw new StartError("--head must be the 64 hexadecimal digits that an earlier run has printed.");
  const progress = startProgressPrinter();
  const tell = (links: number) => progress.reach(links, "entries hold so far");
  const verdict = await withCommandContext(env, ({ database: { db }, box }) =>
    verifyAudit(db, box, { head, tell }),
  );
  const { links, pending, broken } = verdict;
  if (broken && broken.position === null && broken.audit_id === 0) {
    throw new StartError(
      "No entry of the audit log has this --head: it was mistyped, is of another gateway, or the end of the log was cut off.",
    );
  }
  if (broken) {
    const where = broken.position === null ? "" : ` at link ${broken.position}`;
    throw new StartError(`The audit log is broken${where}: entry ${broken.audit_id}: ${broken.reason}.`);
  }
  console.log(`The audit log is whole: ${links} entries linked, ${pending} to be linked.`);
  console.log(
    `Head: ${verdict.head}\nKeep it elsewhere; --head <it> tells later whether the end was cut off.`,
  );
}
