import type { WACallEvent, WASocket } from "baileys";
import type { ContactTokens } from "../keys/contact-tokens.ts";
import type { GroupMetadataCache } from "../keys/group-metadata-cache.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { ItemCache } from "../keys/session-caches.ts";
import type { MediaHosts } from "../media-hosts.ts";
import type { PendingOperations } from "./pending-operations.ts";

/** The connection state that every operation needs. */
export interface OperationContext {
  sock: WASocket;
  hosts: MediaHosts;
  pending: PendingOperations;
  identities: IdentityStore;
  tokens: ContactTokens;
  groupMetadata: GroupMetadataCache;
  /** Ringing phone calls, by id. */
  ringingCalls: ItemCache<WACallEvent>;
  /** Values that were already reported. */
  reported: ItemCache<string>;
}
