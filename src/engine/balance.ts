import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "../platform/db.ts";
import type { Log } from "../platform/log.ts";
import type { LaneKind } from "./lane-kind.ts";
import type { LaneWork } from "./lane-work.ts";
import { releaseLanes } from "./lanes.ts";
import type { Outage } from "./outage.ts";
import type { OwnedLanes } from "./owned-lanes.ts";

/** A moved session signs in anew, so that a newcomer is filled slowly. */
const AT_ONCE = 20;
/** Above its share by less, a node keeps what it has. */
const SLACK = 0.1;
/** For so long the others may take what was given back. */
const LEFT_ALONE_MS = 10_000;

export interface BalanceOptions {
  db: Db;
  node: string;
  log: Log;
  owned: OwnedLanes;
  outage: Outage;
  kinds(): LaneKind[];
  /** Nodes with this role that have a fresh beat, this one among them. */
  countLive(role: LaneKind["role"]): number;
  /** There are lanes to be taken. */
  tellOthers(): void;
}

/** Gives lanes back of which this node has more than its share, so that a node that joins gets work. */
export class Balance {
  readonly #options: BalanceOptions;
  readonly #given = new Set<number>();
  #isBusy = false;

  constructor(options: BalanceOptions) {
    this.#options = options;
  }

  /** Lanes that are meant for the others. */
  given(): number[] {
    return [...this.#given];
  }

  async check(): Promise<void> {
    const { outage, kinds, countLive } = this.#options;
    const shared = kinds().filter(({ role }) => countLive(role) > 1);
    if (this.#isBusy || shared.length === 0) return;
    this.#isBusy = true;
    try {
      const totals = await this.#count(shared.map(({ kind }) => kind));
      for (const kind of shared) await this.#giveSurplus(kind, totals.get(kind.kind) ?? 0);
    } catch (error) {
      outage.note(error);
    } finally {
      this.#isBusy = false;
    }
  }

  async #count(kinds: string[]): Promise<Map<string, number>> {
    const { rows } = await sql<{ kind: string; count: number }>`
      select kind, count(*) from lane where kind = any(${kinds}) group by kind`.execute(this.#options.db);
    return new Map(rows.map(({ kind, count }) => [kind, count]));
  }

  async #giveSurplus({ kind, role }: LaneKind, total: number): Promise<void> {
    const { owned, countLive, log } = this.#options;
    const mine = owned.all().filter(({ lane }) => lane.kind === kind);
    const share = Math.ceil(total / countLive(role));
    const surplus = mine.length - share - Math.max(1, Math.floor(share * SLACK));
    if (surplus <= 0) return;
    const given = mine.filter((work) => work.isOpen && work.isIdle()).slice(0, Math.min(surplus, AT_ONCE));
    if (given.length === 0) return;
    log.info({ lane_kind: kind, count: given.length }, "lanes are given to other nodes");
    await this.#give(given);
  }

  /** Each is closed here before anybody else can take it: a session is never connected twice. */
  async #give(works: LaneWork[]): Promise<void> {
    const { db, node, owned, tellOthers } = this.#options;
    const ids = works.map(({ lane }) => lane.id);
    for (const id of ids) this.#given.add(id);
    try {
      await Promise.all(works.map((work) => owned.close(work)));
      await releaseLanes(db, node, { only: ids });
      tellOthers();
    } finally {
      void sleep(LEFT_ALONE_MS, undefined, { ref: false }).then(() => {
        for (const id of ids) this.#given.delete(id);
      });
    }
  }
}
