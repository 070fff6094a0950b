import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { Semaphore } from "../../platform/limits/semaphore.ts";
import { recordAudit } from "../audit/audit.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { networkOf, type SignInSource, type SignInThrottle, tooManyFailures } from "./sign-in-throttle.ts";
import { MOST_USERS, type SignInUser } from "./sign-in-user.ts";
import type { TrustedDevices } from "./trusted-devices.ts";
import { endWelcome } from "./welcome-link.ts";

/** Of networks that have failed too often. */
const CROWDS_AT_ONCE = 2;
const MOST_IN_CROWD = 5;
/** After a wrong password. Tests lower it. */
export const CROWD_PAUSE = { ms: 1_000 };

export interface PasswordCheckDeps {
  db: Db;
  passwords: PasswordHasher;
  /** A separate queue for known devices, since unauthenticated clients can fill the other one. */
  devicePasswords: PasswordHasher;
  /** A queue for networks that have failed too often. */
  crowdPasswords: PasswordHasher;
  crowd: Semaphore;
  devices: TrustedDevices;
  throttle: SignInThrottle;
}

/** The origin of a request. */
export interface SignInContext {
  ip: string;
  request_id: string;
  /** The token that an earlier sign-in gave this device. */
  deviceToken?: string | undefined;
  /** A browser gets a token for its device in a cookie. */
  headers?: RequestHeaders;
}

export type RequestHeaders = Readonly<Record<string, unknown>>;

/** One password of a network is checked at a time. */
export function createCrowd(): Semaphore {
  return new Semaphore({ limit: CROWDS_AT_ONCE, limitPerKey: 1 });
}

/** The user with this password. A failure takes the same time and has the same message for every reason. */
export async function verifyPassword(
  parts: PasswordCheckDeps,
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
  parts: PasswordCheckDeps,
  email: string,
  from: SignInSource,
  users: SignInUser[],
  password: string,
): Promise<SignInUser | undefined> {
  const reservation = await parts.throttle.begin(email.toLowerCase(), from);
  const { networkWait } = reservation;
  let how: "right" | "wrong" | "cancelled" = "cancelled";
  try {
    const hasher = from.device === undefined ? parts.passwords : parts.devicePasswords;
    const right =
      networkWait > 0
        ? await findInCrowd(parts, networkOf(from.ip), users, password)
        : await findByPassword(hasher, users, password);
    how = right ? "right" : "wrong";
    if (!right && networkWait > 0) throw tooManyFailures(networkWait);
    return right;
  } finally {
    await reservation.end(how);
  }
}

/** Checks one password of a network at a time, and pauses after a wrong one. Throws RATE_LIMITED if five wait already. */
async function findInCrowd(
  { crowd, crowdPasswords }: PasswordCheckDeps,
  network: string,
  users: SignInUser[],
  password: string,
): Promise<SignInUser | undefined> {
  if (crowd.countWaiting(network) >= MOST_IN_CROWD) throw tooManyFailures(1);
  const slot = await crowd.acquire({ key: network });
  let right: SignInUser | undefined;
  try {
    right = await findByPassword(crowdPasswords, users, password);
    return right;
  } finally {
    if (right) slot.release();
    else setTimeout(() => slot.release(), CROWD_PAUSE.ms).unref();
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

export function wrongCredentials(): GatewayError {
  return new GatewayError("INVALID_CREDENTIALS", "The e-mail or the password is wrong.");
}
