import { sql } from "kysely";
import type { Db } from "../../../platform/db/database.ts";
import { accountStateSql } from "../account-state.ts";
import { noUser } from "../users/get-user.ts";

/** Maximum number of accounts that share one e-mail address and can sign in without naming the account. */
export const MOST_USERS = 10;

export type SignInUser = NonNullable<Awaited<ReturnType<typeof findUser>>>;

function selectUser(db: Db) {
  return db
    .selectFrom("account_user")
    .innerJoin("account", "account.id", "account_user.account_id")
    .select(["account_user.id", "account_user.account_id", "account_user.name", "account_user.email"])
    .select(["account_user.role", "account_user.password_hash", "account_user.awaits_owner"])
    .select(["account_user.must_change_password", "account_user.instance_ids"])
    .select(["account.name as account_name", "account.account_type"])
    .select(accountStateSql.as("status"));
}

interface UserSelector {
  email: string;
  account_id: number | undefined;
  /** This user comes first, if found. */
  preferred: number | undefined;
}

/** Oldest first; only of one account, if given. */
export function findUsersByEmail(
  db: Db,
  { email, account_id, preferred = 0 }: UserSelector,
): Promise<SignInUser[]> {
  let query = selectUser(db)
    .where(sql<string>`lower(account_user.email)`, "=", sql<string>`lower(${email})`)
    .orderBy(sql`account_user.id = ${preferred}`, "desc")
    .orderBy("account_user.id")
    .limit(MOST_USERS);
  if (account_id !== undefined) query = query.where("account_user.account_id", "=", account_id);
  return query.execute();
}

export function findUser(db: Db, user_id: number) {
  return selectUser(db).where("account_user.id", "=", user_id).executeTakeFirst();
}

/** Account and user as the API shows them. */
export function toUserView(user: Omit<SignInUser, "password_hash" | "awaits_owner">) {
  return {
    account: {
      id: user.account_id,
      name: user.account_name,
      account_type: user.account_type,
      status: user.status,
    },
    user: {
      id: user.id,
      name: user.name,
      email: user.email,
      role: user.role,
      instance_ids: user.instance_ids,
      must_change_password: user.must_change_password,
    },
  };
}

/** Throws NOT_FOUND for a deleted user. */
export async function getUser(db: Db, user_id: number): Promise<SignInUser> {
  const user = await findUser(db, user_id);
  if (!user) throw noUser();
  return user;
}
