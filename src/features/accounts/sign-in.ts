import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Caller, OkResponse } from "../../platform/http/handler.ts";
import type { InputOf, OutputOf } from "../../platform/http/route.ts";
import { PANEL_HEADER, setDeviceCookie } from "../../platform/http/session-cookie.ts";
import { ulid } from "../../platform/ulid.ts";
import { recordAudit } from "../audit/audit.ts";
import type { AccessTokenClaims, AccessTokens } from "./access-tokens.ts";
import { requireActiveAccount } from "./authorise.ts";
import type { accountsContract } from "./contract.ts";
import { endGrants } from "./end-grants.ts";
import { findPasswordProblem } from "./find-password-problem.ts";
import { createPasswordHasher, needsRehash, type PasswordHasher } from "./password-hasher.ts";
import { sessionHeaders } from "./session-headers.ts";
import { createSignInThrottle, type SignInSource, type SignInThrottle } from "./sign-in-throttle.ts";
import { findUser, findUsersByEmail, MOST_USERS, type SignInUser, toUserView } from "./sign-in-user.ts";
import { createTrustedDevices, DEVICE_SECONDS, type TrustedDevices } from "./trusted-devices.ts";
import { endWelcome } from "./welcome-link.ts";

type SignedIn = OkResponse<OutputOf<typeof accountsContract.login>>;

/** What `createSignInHandlers` returns. */
export type SignInHandlers = ReturnType<typeof createSignInHandlers>;

export interface SignInOptions {
  db: Db;
  tokens: AccessTokens;
  passwords: PasswordHasher;
  /** The secret key, and during a key change the second key. */
  secrets: readonly [string, ...string[]];
}

interface SignInDeps {
  db: Db;
  tokens: AccessTokens;
  passwords: PasswordHasher;
  /** A separate queue for known devices, since unauthenticated clients can fill the other one. */
  devicePasswords: PasswordHasher;
  devices: TrustedDevices;
  throttle: SignInThrottle;
}

/** The origin of a request. */
interface SignInContext {
  ip: string;
  request_id: string;
  /** The token that an earlier sign-in gave this device. */
  deviceToken?: string | undefined;
  /** A browser gets a token for its device in a cookie. */
  headers?: RequestHeaders;
}

type RequestHeaders = Readonly<Record<string, unknown>>;

type SignedInUser = Extract<Caller, { kind: "user" }>;

/** Sign-in, confirmation and password change all check a password, so they share the throttle. */
export function createSignInHandlers({ db, tokens, passwords, secrets }: SignInOptions) {
  const devices = createTrustedDevices(secrets);
  const throttle = createSignInThrottle({ db, digestKey: secrets[0] });
  const parts = { db, tokens, passwords, devicePasswords: createPasswordHasher(), devices, throttle };
  return {
    login: (input: InputOf<typeof accountsContract.login>, from: SignInContext) => login(parts, input, from),
    /** The user with this e-mail and password, without a sign-in; throws like `login`. */
    check: (input: InputOf<typeof accountsContract.login>, from: SignInContext) => check(parts, input, from),
    throttle,
    /** The headers of a response that make the browser a known device of a user whose password was right. */
    rememberDevice: ({ id }: { id: number }, from: RequestHeaders) => deviceHeaders(devices.issue(id), from),
    /** Writes a sign-in of a user whose password was checked or just set. */
    insert: (trx: Trx, user: { id: number; password_hash: string }) => insertSignIn(trx, tokens, user),
    /** The response to a sign-in. */
    respond: (user: SignInUser, sign_in: string, from: RequestHeaders) =>
      signedIn(parts, user, sign_in, { from }),
    /** Confirms the password again, as sensitive routes require. */
    confirm: (
      input: InputOf<typeof accountsContract.confirmPassword>,
      by: SignInContext & { caller: SignedInUser },
    ) => confirm(parts, input, by),
    /** `ended`: sign-ins that the password change ended. */
    changePassword: (
      input: InputOf<typeof accountsContract.changePassword>,
      by: SignInContext & { caller: SignedInUser },
    ) => changePassword(parts, input, by),
  };
}

async function login(parts: SignInDeps, input: InputOf<typeof accountsContract.login>, from: SignInContext) {
  const user = await check(parts, input, from);
  const password_hash = await refreshHash(parts, user, input.password);
  const sign_in = await parts.db.transaction().execute(async (trx) => {
    const id = await insertSignIn(trx, parts.tokens, { ...user, password_hash });
    await recordAudit(trx, { ...entryOf(user, from, id), action: "auth.login" });
    return id;
  });
  return signedIn(parts, user, sign_in, { from: from.headers });
}

async function check(
  parts: SignInDeps,
  { email, password, account_id, device_token }: InputOf<typeof accountsContract.login>,
  from: SignInContext,
): Promise<SignInUser> {
  const find = (preferred?: number) => findUsersByEmail(parts.db, { email, account_id, preferred });
  const user = await verifyPassword(parts, email, withDevice(from, device_token), password, find);
  requireActiveAccount(user.status);
  return user;
}

async function confirm(
  parts: SignInDeps,
  { password, device_token }: InputOf<typeof accountsContract.confirmPassword>,
  by: SignInContext & { caller: SignedInUser },
): Promise<void> {
  const user = await verifyOwnPassword(parts, withDevice(by, device_token), password);
  await parts.db.transaction().execute(async (trx) => {
    await trx
      .updateTable("sign_in")
      .set({ confirmed_at: sql<Date>`now()` })
      .where("id", "=", by.caller.sign_in)
      .execute();
    await recordAudit(trx, { ...entryOf(user, by, by.caller.sign_in), action: "auth.confirm" });
  });
}

/** The signed-in user, after the password proved right. */
async function verifyOwnPassword(
  parts: SignInDeps,
  by: SignInContext & { caller: SignedInUser },
  password: string,
): Promise<SignInUser> {
  const known = await findUser(parts.db, by.caller.user_id);
  return verifyPassword(parts, known?.email ?? "", by, password, async () => (known ? [known] : []));
}

async function changePassword(
  parts: SignInDeps,
  { current_password, new_password, device_token }: InputOf<typeof accountsContract.changePassword>,
  by: SignInContext & { caller: SignedInUser },
): Promise<{ response: SignedIn; ended: string[] }> {
  const user = await verifyOwnPassword(parts, withDevice(by, device_token), current_password);
  const fault =
    new_password === current_password
      ? "is the current one"
      : await findPasswordProblem(new_password, [user.email, user.name, user.account_name]);
  if (fault) throw invalidField("new_password", fault);
  const password_hash = await parts.passwords.hash(new_password);
  const { ended, sign_in } = await parts.db.transaction().execute(async (trx) => {
    await trx.updateTable("account_user").set({ password_hash }).where("id", "=", user.id).execute();
    const ended = await trx.deleteFrom("sign_in").where("user_id", "=", user.id).returning("id").execute();
    await endGrants(trx, user.id);
    await recordAudit(trx, { ...entryOf(user, by, by.caller.sign_in), action: "auth.password" });
    return { ended, sign_in: await insertSignIn(trx, parts.tokens, { ...user, password_hash }) };
  });
  const session = by.caller.is_panel ? { user_id: user.id, sign_in } : undefined;
  return { response: await signedIn(parts, user, sign_in, { session }), ended: ended.map(({ id }) => id) };
}

function entryOf(user: SignInUser, { ip, request_id }: SignInContext, sign_in: string) {
  const { id: user_id, account_id, account_type, role } = user;
  const caller = { kind: "user", user_id, account_id, account_type, role, sign_in, is_fresh: true } as const;
  return { by: { caller, ip, request_id }, target: { type: "user", id: user_id }, account_id };
}

/** The user with this password. A failure takes the same time and has the same message for every reason. */
async function verifyPassword(
  parts: SignInDeps,
  email: string,
  { ip, request_id, deviceToken }: SignInContext,
  password: string,
  find: (preferred?: number) => Promise<SignInUser[]>,
): Promise<SignInUser> {
  const device = parts.devices.find(deviceToken);
  const users = await find(device?.user_id);
  const own = users.find(({ id }) => id === device?.user_id);
  const right =
    (own && (await attempt(parts, email, { ip, device: device?.id }, [own], password))) ??
    (await attempt(parts, email, { ip }, users, password).catch((error: unknown) => {
      // A known device has its own count, so it may retry immediately.
      if (own && error instanceof GatewayError && error.code === "RATE_LIMITED") return undefined;
      throw error;
    }));
  if (right) {
    if (right.awaits_owner) await endWelcome(parts.db, right.id);
    return right;
  }
  for (const user of users) void noteRefusal(parts.db, user, { ip, request_id });
  throw wrongCredentials();
}

/** Returns the user whose password it is. Throws RATE_LIMITED. */
async function attempt(
  { throttle, passwords, devicePasswords }: SignInDeps,
  email: string,
  from: SignInSource,
  users: SignInUser[],
  password: string,
): Promise<SignInUser | undefined> {
  const reservation = await throttle.begin(email.toLowerCase(), from);
  let how: "right" | "wrong" | "cancelled" = "cancelled";
  try {
    const hasher = from.device === undefined ? passwords : devicePasswords;
    const right = await findByPassword(hasher, users, password);
    how = right ? "right" : "wrong";
    return right;
  } finally {
    await reservation.end(how);
  }
}

/** Always computes the same number of hashes, so that the time does not reveal the number of accounts. */
async function findByPassword(
  passwords: PasswordHasher,
  users: SignInUser[],
  password: string,
): Promise<SignInUser | undefined> {
  const candidates = Array.from({ length: MOST_USERS }, (_, index) => users[index]);
  const matches = await Promise.all(
    candidates.map((user) => passwords.verify(user?.password_hash, password)),
  );
  return candidates.find((_, index) => matches[index]);
}

/** Not awaited: the response time must not reveal whether the user exists. */
async function noteRefusal(
  db: Db,
  { id, account_id }: SignInUser,
  { ip, request_id }: SignInContext,
): Promise<void> {
  const by = { caller: { kind: "public" }, ip, request_id } as const;
  await db
    .transaction()
    .execute((trx) =>
      recordAudit(trx, { by, action: "auth.refused", target: { type: "user", id }, account_id }),
    )
    .catch(() => {});
}

function wrongCredentials(): GatewayError {
  return new GatewayError("INVALID_CREDENTIALS", "The e-mail or the password is wrong.");
}

async function refreshHash(
  { db, passwords }: SignInDeps,
  user: SignInUser,
  password: string,
): Promise<string> {
  if (!needsRehash(user.password_hash)) return user.password_hash;
  const password_hash = await passwords.hash(password);
  await db
    .updateTable("account_user")
    .set({ password_hash })
    .where("id", "=", user.id)
    .where("password_hash", "=", user.password_hash)
    .execute();
  return password_hash;
}

/** Requires the checked password to be current, since a concurrent password change ends all sign-ins. */
async function insertSignIn(
  trx: Trx,
  tokens: AccessTokens,
  user: { id: number; password_hash: string },
): Promise<string> {
  await trx
    .deleteFrom("sign_in")
    .where("user_id", "=", user.id)
    .where("expires_at", "<", sql<Date>`now()`)
    .execute();
  const { rows } = await sql<{ id: string }>`
    insert into sign_in (id, user_id, expires_at)
    select ${ulid()}, u.id, now() + make_interval(secs => ${tokens.lifetimeSeconds})
    from (select id from account_user where id = ${user.id} and password_hash = ${user.password_hash} for share) u
    returning id`.execute(trx);
  if (!rows[0]) throw wrongCredentials();
  return rows[0].id;
}

/** Programs send the token in the body, the panel has it in a cookie. */
function withDevice<Context extends SignInContext>(from: Context, token: string | undefined): Context {
  return token === undefined ? from : { ...from, deviceToken: token };
}

function deviceHeaders(token: string, { origin }: RequestHeaders): Record<string, string> {
  return { "set-cookie": setDeviceCookie(token, DEVICE_SECONDS, origin) };
}

interface SignedInOptions {
  /** The headers of the request that signed in. */
  from?: RequestHeaders | undefined;
  /** The panel's, whose cookie is replaced. */
  session?: AccessTokenClaims | undefined;
}

async function signedIn(
  { tokens, devices }: SignInDeps,
  user: SignInUser,
  sign_in: string,
  { from, session }: SignedInOptions,
): Promise<SignedIn> {
  const token = await tokens.sign({ user_id: user.id, sign_in });
  const device_token = devices.issue(user.id);
  const shown = toUserView(user);
  return new OkResponse(
    { token, token_type: "Bearer" as const, expires_in: tokens.lifetimeSeconds, device_token, ...shown },
    {
      beside: { token, accountId: user.account_id },
      ...(session && { headers: await sessionHeaders(tokens, session) }),
      ...(from?.[PANEL_HEADER] === "1" && { headers: deviceHeaders(device_token, from) }),
    },
  );
}
