import { randomInt } from "node:crypto";
import type { Pool } from "pg";

/**
 * First half of the advisory lock that every process with open sockets holds; the second half is its host id.
 */
export const HOST_LOCK_CLASS = 0x5a_4d_01;

/**
 * Identifies this process to the network. It holds a lock on a dedicated connection, so the network detects
 * sockets closed by a kill -9 at once.
 */
export class HostLock {
  readonly id = randomInt(1, 2 ** 31 - 1);
  readonly #pool: Pool;
  #lock: Promise<() => void> | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Resolves once the lock is held; acquires it again when its connection dies. */
  async acquire(): Promise<void> {
    this.#lock ??= this.#acquireLock();
    await this.#lock;
  }

  release(): void {
    const lock = this.#lock;
    this.#lock = undefined;
    lock?.then(
      (letGo) => letGo(),
      () => undefined,
    );
  }

  #acquireLock(): Promise<() => void> {
    const clear = () => {
      if (this.#lock === lock) this.#lock = undefined;
    };
    const lock = lockFor(this.#pool, this.id, clear);
    lock.catch(clear);
    return lock;
  }
}

async function lockFor(pool: Pool, id: number, onLost: () => void): Promise<() => void> {
  const client = await pool.connect();
  let isLocked = true;
  const letGo = () => {
    if (isLocked) client.release(true);
    isLocked = false;
  };
  client.on("error", () => {
    letGo();
    onLost();
  });
  try {
    await client.query("select pg_advisory_lock($1, $2)", [HOST_LOCK_CLASS, id]);
    return letGo;
  } catch (error) {
    letGo();
    throw error;
  }
}
