import type { WACallEvent, WASocket } from "baileys";
import type { PendingOperations } from "./call-line.ts";
import type { MediaHosts } from "./file-hosts.ts";
import type { GroupMetadataCache } from "./groups.ts";
import type { ItemCache } from "./key-cache.ts";
import type { IdentityStore } from "./people.ts";

/** What every call needs of its connection. */
export interface OperationContext {
  sock: WASocket;
  hosts: MediaHosts;
  line: PendingOperations;
  people: IdentityStore;
  groups: GroupMetadataCache;
  /** Calls that ring, by id. */
  ringing: ItemCache<WACallEvent>;
  /** What need not be told again. */
  told: ItemCache<string>;
}
