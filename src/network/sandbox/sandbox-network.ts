import type { Pool, PoolClient } from "pg";

/** The sandbox network of one account, accessed through a pool or within a transaction. */
export interface SandboxNetwork<Client extends Pool | PoolClient = Pool | PoolClient> {
  client: Client;
  account_id: number;
}
