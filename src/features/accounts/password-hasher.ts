import { GatewayError } from "../../platform/gateway-error.ts";
import { Semaphore } from "../../platform/limits/semaphore.ts";

/** Argon2id, 19 MiB, two passes, one lane: 36 ms. The algorithm is the library's default. Tests lower it. */
export const PASSWORD_COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** The hash of a random password that nobody knows, with the parameters above. */
export const UNKNOWN_USER =
  "$argon2id$v=19$m=19456,t=2,p=1$17u9kk6vOew/QH3povBSMw$M1RcgR7VMUJmqCZMWAORrAD11H9mabWUn6UwF3rLRkk";
const HASHES_AT_ONCE = 2;
const MOST_WAITING = 20;

/** Hashes and checks passwords, two at once; throws RATE_LIMITED if twenty are already queued. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** Takes the same time for a user who does not exist (`undefined`). */
  verify(stored: string | undefined, password: string): Promise<boolean>;
}

export function createPasswordHasher(): PasswordHasher {
  const slots = new Semaphore({ limit: HASHES_AT_ONCE });

  async function inSlot<T>(work: () => Promise<T>): Promise<T> {
    if (slots.countWaiting() >= MOST_WAITING) throw tooMany();
    return slots.use(work);
  }

  return {
    hash: (password) => inSlot(() => hashPassword(password)),
    async verify(stored, password) {
      const isRight = await inSlot(async () => {
        const { verify } = await import("@node-rs/argon2");
        return verify(stored ?? UNKNOWN_USER, normalise(password));
      });
      return isRight && stored !== undefined;
    },
  };
}

/** Hashes without queueing behind sign-ins; for the first start and the command line. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await import("@node-rs/argon2");
  return hash(normalise(password), PASSWORD_COST);
}

/** Whether a stored hash has other cost parameters than the current ones. */
export function needsRehash(stored: string): boolean {
  const { memoryCost, timeCost, parallelism } = PASSWORD_COST;
  return !stored.startsWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`);
}

function normalise(password: string): string {
  return password.normalize("NFKC");
}

function tooMany(): GatewayError {
  return new GatewayError("RATE_LIMITED", "Too many sign-ins at once. Try again in a moment.", {
    retryAfterSeconds: 1,
  });
}
