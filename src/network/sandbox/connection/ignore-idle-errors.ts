import type { Pool } from "pg";

const watched = new WeakSet<Pool>();

/** Without a listener, an error on a pooled connection between two statements would end the process. */
export function ignoreIdleErrors(pool: Pool): void {
  if (watched.has(pool)) return;
  watched.add(pool);
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
}
