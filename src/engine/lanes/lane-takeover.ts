import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../platform/db/database.ts";
import type { DatabaseAvailability } from "../cluster/database-availability.ts";
import { claimLanes } from "./claim-lanes.ts";
import type { Lane } from "./lane-kind.ts";

const AT_ONCE = 50;
const MOST_LAG_MS = 100;
/** Long enough to measure the event-loop delay. */
const POLL_MS = 10;

export interface LaneTakeoverOptions {
  db: Db;
  node: string;
  availability: DatabaseAvailability;
  /** Kinds whose role this node has. */
  kinds(): string[];
  dead(): string[];
  ownedIds(): number[];
  /** Lanes not to claim now: one of their jobs still runs here, or they were handed over to other nodes. */
  excluded(): number[];
  /** The boot under which lanes may be claimed now, if any. */
  currentBoot(): number | undefined;
  /** Whether earlier boots of this node have certainly ended. */
  isPredecessorGone(): boolean;
  claim(lanes: Lane[]): void;
}

/** Claims free lanes and those of dead nodes, 50 at a time, as long as the event loop keeps up. */
export class LaneTakeover {
  readonly #options: LaneTakeoverOptions;
  #wantsAll = false;
  #candidates = new Set<number>();
  /** Lanes of other nodes requested since the last full check. */
  #foreign = new Set<number>();
  /** The database may assign unknown lanes to this node: at the start, or after a lost response. */
  #mayOwnUnknown = true;
  #running: Promise<void> | undefined;
  #claiming: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: LaneTakeoverOptions) {
    this.#options = options;
  }

  /** Checks all lanes soon. */
  scanAll(): void {
    this.#wantsAll = true;
    this.#foreign.clear();
    this.#run();
  }

  /** Checks these lanes soon, unless they were checked a moment ago. */
  scan(lanes: readonly number[]): void {
    if (!this.#mayGoOn()) return;
    for (const lane of lanes) if (!this.#foreign.has(lane)) this.#candidates.add(lane);
    if (this.#candidates.size > 0) this.#run();
  }

  /** Lanes were closed here that the database may still assign to this node; checks all lanes soon. */
  recheckOwnership(): void {
    this.#mayOwnUnknown = true;
    this.scanAll();
  }

  /** Resolves when the claim that is under way, if any, has ended: it does not know lanes that were excluded since. */
  async whenClaimed(): Promise<void> {
    await this.#claiming;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  #run(): void {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined;
    });
  }

  async #work(): Promise<void> {
    await Promise.resolve();
    while (this.#mayGoOn() && (this.#wantsAll || this.#candidates.size > 0)) {
      if ((await loopLagMs()) >= MOST_LAG_MS) await sleep(MOST_LAG_MS);
      else this.#claiming = this.#claimSome();
      await this.#claiming;
    }
  }

  #mayGoOn(): boolean {
    return !this.#isStopped && this.#options.currentBoot() !== undefined && this.#options.kinds().length > 0;
  }

  async #claimSome(): Promise<void> {
    const isAll = this.#wantsAll;
    const candidates = isAll ? undefined : [...this.#candidates];
    const own = this.#mayOwnUnknown && this.#options.isPredecessorGone();
    this.#wantsAll = false;
    this.#candidates = new Set();
    if (own && isAll) this.#mayOwnUnknown = false;
    try {
      const isFull = await this.#claim(own, candidates);
      if (isFull) this.#wantsAll = true;
      if (isFull && own) this.#mayOwnUnknown = true;
      for (const lane of candidates ?? []) this.#foreign.add(lane);
    } catch (error) {
      this.#mayOwnUnknown = true;
      if (isAll) this.#wantsAll = true;
      await this.#options.availability.recordFailureAndWait(error);
    }
  }

  /** Returns whether there may be more lanes to claim. */
  async #claim(includeOwn: boolean, candidates: number[] | undefined): Promise<boolean> {
    const { db, node, kinds, dead, ownedIds, excluded, currentBoot, claim, availability } = this.#options;
    const boot = currentBoot();
    const left = includeOwn ? [...ownedIds(), ...excluded()] : excluded();
    const lanes = await claimLanes(db, {
      node,
      kinds: kinds(),
      dead: dead(),
      includeOwn,
      excluded: left,
      candidates,
      limit: AT_ONCE,
    });
    availability.recordSuccess();
    if (boot === currentBoot()) claim(lanes);
    else this.#mayOwnUnknown = true;
    return lanes.length === AT_ONCE;
  }
}

/** Event-loop delay of this process. */
async function loopLagMs(): Promise<number> {
  const at = performance.now();
  await sleep(POLL_MS);
  return performance.now() - at - POLL_MS;
}
