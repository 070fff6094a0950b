import type { GroupMetadata } from "baileys";
import type { ItemCache } from "../keys/session-caches.ts";

/** Caches the members of each group; fetched once, and again after the network reports a change. */
export class GroupMetadataCache {
  readonly #cache: ItemCache<GroupMetadata>;
  readonly #fetching = new Map<string, Promise<GroupMetadata>>();

  constructor(cache: ItemCache<GroupMetadata>) {
    this.#cache = cache;
  }

  async get(group: string, fetchMetadata: () => Promise<GroupMetadata>): Promise<GroupMetadata> {
    const known = this.#cache.get(group);
    if (known) return known;
    const fetching = this.#fetching.get(group) ?? this.#fetch(group, fetchMetadata);
    return fetching;
  }

  /** Stores metadata that the network sent without a request. */
  set(metadata: GroupMetadata): void {
    this.delete(metadata.id);
    this.#cache.set(metadata.id, metadata);
  }

  delete(group: string): void {
    this.#cache.del(group);
    this.#fetching.delete(group);
  }

  #fetch(group: string, fetchMetadata: () => Promise<GroupMetadata>): Promise<GroupMetadata> {
    const fetching = fetchMetadata().then((metadata) => {
      // After a change in the meantime, this response is outdated.
      if (this.#fetching.get(group) === fetching) this.#cache.set(group, metadata);
      return metadata;
    });
    this.#fetching.set(group, fetching);
    const done = () => {
      if (this.#fetching.get(group) === fetching) this.#fetching.delete(group);
    };
    fetching.then(done, done);
    return fetching;
  }
}
