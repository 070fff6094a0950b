import {
  generatePassword,
  insertAccount,
  type NewAccount,
  validateSignInDetails,
} from "../../core/accounts/users/create-account.ts";
import { hashPassword } from "../../core/accounts/users/password-hasher.ts";
import { findUsersToRecover, replacePassword } from "../../core/accounts/users/recover-user-handlers.ts";
import { recordAudit } from "../../core/audit/audit.ts";
import type { Env } from "../../platform/config/config.ts";
import type { Db } from "../../platform/db/database.ts";
// Recovering a user also ends what extensions let act for it.
import "../../processes/extensions.ts";
import { StartError, throwSettingError } from "../../processes/start-error.ts";
import { COMMAND_ACTOR, withCommandContext } from "./command-database.ts";

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
  const password = generatePassword();
  const input = { name, email, account_type, password, must_change_password: true };
  const account_id = await withCommandContext(env, ({ database: { db } }) =>
    writeAccount(db, input).catch(throwSettingError),
  );
  console.log(
    `Account ${account_id} (${account_type}) was created.\nE-mail: ${email}\nPassword: ${password}`,
  );
  console.log("The password is shown only once, and the panel asks for another one.");
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
  console.log("The password is shown only once, and the panel asks for another one.");
  console.log("Every sign-in of the user ends within five seconds.");
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

async function writeAccount(db: Db, input: NewAccount): Promise<number> {
  await validateSignInDetails(input);
  const password_hash = await hashPassword(input.password);
  return db.transaction().execute(async (trx) => {
    const { account_id } = await insertAccount(trx, input, password_hash);
    const target = { type: "account", id: account_id };
    await recordAudit(trx, { by: COMMAND_ACTOR, action: "account.create", target, account_id });
    return account_id;
  });
}
