import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../platform/db/database.ts";
import type { DatabaseAvailability } from "./database-availability.ts";
import type { Lane } from "./lane-kind.ts";
import { claimLanes } from "./lane-store.ts";

const AT_ONCE = 50;
const MOST_LAG_MS = 100;
/** Long enough that what keeps the process busy shows itself. */
const LOOK_MS = 10;

export interface LaneTakeoverOptions {
  db: Db;
  node: string;
  outage: DatabaseAvailability;
  /** Kinds whose role this node has. */
  kinds(): string[];
  dead(): string[];
  held(): number[];
  /** Lanes that are not for this node now: something of them still runs here, or they were given to others. */
  leave(): number[];
  /** The boot under which lanes may be taken now, if they may. */
  bootNow(): number | undefined;
  /** Whether earlier boots of this node are gone for sure. */
  isPredecessorGone(): boolean;
  adopt(lanes: Lane[]): void;
}

/** Takes free lanes and those of the dead, 50 at a time, as long as this process keeps up. */
export class LaneTakeover {
  readonly #options: LaneTakeoverOptions;
  #wantsAll = false;
  #wanted = new Set<number>();
  /** Lanes of others that were asked for since the last look at all. */
  #foreign = new Set<number>();
  /** Lanes may be ours in the database without our knowing: so at the start, or after an answer that got lost. */
  #mayOwnUnknown = true;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: LaneTakeoverOptions) {
    this.#options = options;
  }

  /** Looks at all lanes soon. */
  lookAtAll(): void {
    this.#wantsAll = true;
    this.#foreign.clear();
    this.#run();
  }

  /** Looks at these lanes soon, unless that was done a moment ago. */
  lookAt(lanes: readonly number[]): void {
    if (!this.#mayGoOn()) return;
    for (const lane of lanes) if (!this.#foreign.has(lane)) this.#wanted.add(lane);
    if (this.#wanted.size > 0) this.#run();
  }

  /** Lanes were closed here that the database may still hold to be ours; looks at all lanes soon. */
  doubtOwnership(): void {
    this.#mayOwnUnknown = true;
    this.lookAtAll();
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
    while (this.#mayGoOn() && (this.#wantsAll || this.#wanted.size > 0)) {
      if ((await loopLagMs()) >= MOST_LAG_MS) await sleep(MOST_LAG_MS);
      else await this.#takeSome();
    }
  }

  #mayGoOn(): boolean {
    return !this.#isStopped && this.#options.bootNow() !== undefined && this.#options.kinds().length > 0;
  }

  async #takeSome(): Promise<void> {
    const isAll = this.#wantsAll;
    const among = isAll ? undefined : [...this.#wanted];
    const own = this.#mayOwnUnknown && this.#options.isPredecessorGone();
    this.#wantsAll = false;
    this.#wanted = new Set();
    if (own && isAll) this.#mayOwnUnknown = false;
    try {
      const isFull = await this.#take(own, among);
      if (isFull) this.#wantsAll = true;
      if (isFull && own) this.#mayOwnUnknown = true;
      for (const lane of among ?? []) this.#foreign.add(lane);
    } catch (error) {
      this.#mayOwnUnknown = true;
      if (isAll) this.#wantsAll = true;
      await this.#options.outage.failed(error);
    }
  }

  /** Answers whether there may be more to take. */
  async #take(own: boolean, among: number[] | undefined): Promise<boolean> {
    const { db, node, kinds, dead, held, leave, bootNow, adopt, outage } = this.#options;
    const boot = bootNow();
    const except = own ? [...held(), ...leave()] : leave();
    const lanes = await claimLanes(db, {
      node,
      kinds: kinds(),
      dead: dead(),
      own,
      except,
      among,
      limit: AT_ONCE,
    });
    outage.worked();
    if (boot === bootNow()) adopt(lanes);
    else this.#mayOwnUnknown = true;
    return lanes.length === AT_ONCE;
  }
}

/** How late this process is with what it has to do. */
async function loopLagMs(): Promise<number> {
  const at = performance.now();
  await sleep(LOOK_MS);
  return performance.now() - at - LOOK_MS;
}
