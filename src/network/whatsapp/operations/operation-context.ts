import type { WACallEvent, WASocket } from "baileys";
import type { MediaHosts } from "../files/media-hosts.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { ItemCache } from "../keys/session-caches.ts";
import type { GroupMetadataCache } from "../outbound/group-metadata-cache.ts";
import type { PendingOperations } from "./pending-operations.ts";

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
