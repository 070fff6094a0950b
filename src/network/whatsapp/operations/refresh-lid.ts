import type { BinaryNode, SignalKeyStore, WASocket } from "baileys";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { ItemCache } from "../keys/session-caches.ts";
import { userOf } from "../wire/plain-jid.ts";
import { findNumbers } from "./find-numbers.ts";

export interface RefreshLidOptions {
  sock: WASocket;
  identities: IdentityStore;
  keys: SignalKeyStore;
  /** Remembers for an hour who was looked up. */
  reported: ItemCache<string>;
}

/**
 * Looks up the LID of a message's recipient again, by number, if the network's ack calls the known one outdated: the
 * number belongs to a new account. Upstream: https://github.com/WhiskeySockets/Baileys/issues/2662 (closed, not done).
 */
export async function refreshLid({ attrs }: BinaryNode, options: RefreshLidOptions): Promise<void> {
  if (attrs.refresh_lid !== "true") return;
  const { sock, identities, keys, reported } = options;
  const person = await identities.identify(attrs.from ?? "");
  const key = `refreshed ${person?.phone}`;
  if (!person?.phone || reported.get(key)) return;
  reported.set(key, "yes");
  const found = (await findNumbers(sock, [person.phone])).get(person.phone);
  // The owner of the old LID no longer has this number.
  if (person.lid && found?.lid && found.lid !== person.lid)
    await keys.set({ "lid-mapping": { [`${userOf(person.lid)}_reverse`]: null } });
}
