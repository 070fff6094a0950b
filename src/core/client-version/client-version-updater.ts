import { setTimeout as delay } from "node:timers/promises";
import type { Engine } from "../../engine/engine.ts";
import { type RecurringJob, runRecurringJobSoon } from "../../engine/recurring-jobs.ts";
import type { ClientVersion, ClientVersionRejection, ClientVersions } from "../../network/client-version.ts";
import { type Db, isTransientDatabaseError } from "../../platform/db/database.ts";
import { faultPoint } from "../../platform/fault-point.ts";
import type { Log } from "../../platform/log/log.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { type VersionPolicy, type VersionState, versionOf, versionStateOf } from "./client-version.ts";
import { searchListedRevision, searchRevision } from "./search-revision.ts";
import {
  readVersionRow,
  requestSearch,
  saveExpiration,
  saveListedRevision,
  saveRevision,
  saveSearchProblem,
  type VersionRow,
  withdrawExpiration,
} from "./version-row.ts";
import { warnOfExpiration } from "./warn-of-expiration.ts";

const DAY_MS = 86_400_000;

/** The shortest notice, as in WhatsApp's own web client. */
const MIN_NOTICE_MS = 3 * DAY_MS;

/** WhatsApp refuses each version after some months. */
const MAX_NOTICE_MS = 730 * DAY_MS;

const NAME = "client-version";
const HOUR_MS = 3_600_000;
/** Searches run about once a day; a failed one is repeated after an hour. */
const DUE_MS = 23 * HOUR_MS;
/** A starting node requests no search if the last one is this recent. */
const MIN_INTERVAL_AT_START_MS = HOUR_MS;
/** Sessions that are rejected at the same time share one search. */
const MIN_INTERVAL_AFTER_REJECTION_MS = 60_000;
/** Two requests of ten seconds each, plus the time to reach the node that sends them. */
const WAIT_MS = 25_000;
const LOOK_MS = 1_000;
const POLL_MS = 60_000;

export interface ClientVersionUpdaterDeps {
  db: Db;
  engine: Pick<Engine, "wake" | "publish" | "subscribe">;
  outgoing: Pick<SafeFetch, "fetch">;
  policy: VersionPolicy;
  log: Log;
  /** Reconnects the sessions that WhatsApp rejected before the new version was found. */
  resumeOutdated(): Promise<void>;
}

/** Updates the version of WhatsApp's web client: one node searches, and all nodes read one row. */
export class ClientVersionUpdater implements ClientVersions {
  readonly #deps: ClientVersionUpdaterDeps;
  #row: VersionRow | undefined;
  #searching: Promise<void> | undefined;
  #storing: Promise<void> | undefined;
  #stop: (() => void)[] = [];

  constructor(deps: ClientVersionUpdaterDeps) {
    this.#deps = deps;
  }

  /** Reads the stored version and requests a search without waiting for it. */
  async start(): Promise<void> {
    const { policy, engine, db } = this.#deps;
    await this.#read();
    const unsubscribe = engine.subscribe(NAME, () => void this.#reread());
    const poll = setInterval(() => void this.#reread(), POLL_MS).unref();
    this.#stop = [unsubscribe, () => clearInterval(poll)];
    if (!("origin" in policy)) return;
    await requestSearch(db, MIN_INTERVAL_AT_START_MS);
    await this.#runSoon();
  }

  close(): void {
    for (const stop of this.#stop) stop();
    this.#stop = [];
  }

  /** Returns at once. */
  current(): ClientVersion {
    return versionOf(this.#deps.policy, this.#row);
  }

  state(): VersionState {
    return versionStateOf(this.#deps.policy, this.#row);
  }

  /** Every login repeats it, so only a change is stored, and one at a time. */
  reportExpiration(version: ClientVersion, announced: Date | null): void {
    const at = announced && plausibleExpiration(announced);
    if (at === undefined || this.#storing || isNewer(this.current(), version)) return;
    const held = this.#row?.expires_revision === version[2] ? this.#row.expires_at : null;
    if (at === null ? held === null : held !== null && held <= at) return;
    this.#storing = this.#storeExpiration(version[2], at)
      .catch((error: unknown) =>
        this.#deps.log.warn({ err: error }, "the end of the client version was not stored"),
      )
      .finally(() => {
        this.#storing = undefined;
      });
  }

  async #storeExpiration(revision: number, at: Date | null): Promise<void> {
    const { db, engine, log } = this.#deps;
    if (at) {
      await saveExpiration(db, revision, at);
      log.warn({ revision, expires_at: at }, "WhatsApp has announced when it refuses this client version");
    } else {
      await withdrawExpiration(db, revision);
    }
    await this.#read();
    engine.publish(NAME, "expiration");
    engine.wake(await runRecurringJobSoon(db, NAME), { changed: true });
  }

  async reportRejected(version: ClientVersion): Promise<ClientVersionRejection> {
    const { policy, log } = this.#deps;
    if ("origin" in policy && !isNewer(this.current(), version)) {
      this.#searching ??= this.#search().finally(() => {
        this.#searching = undefined;
      });
      await this.#searching.catch((error: unknown) =>
        log.warn({ err: error }, "a search for a newer client version could not be requested"),
      );
    }
    const canRetry = isNewer(this.current(), version);
    const advice = adviseOnRejection(
      version,
      policy,
      canRetry ? this.current() : undefined,
      this.#row?.problem,
    );
    return { canRetry, ...advice };
  }

  /** Searches when a search is due or requested, and completes what an earlier run left unfinished. */
  readonly recurringJob: RecurringJob = {
    name: NAME,
    everyMs: HOUR_MS,
    run: async () => {
      const { policy, db, engine, resumeOutdated } = this.#deps;
      const row = await readVersionRow(db);
      if ("origin" in policy) {
        if (row.is_search_requested || isDue(row)) await this.#find(policy, row);
        await resumeOutdated();
      }
      engine.wake(await warnOfExpiration(db, versionOf(policy, await readVersionRow(db))[2]));
    },
  };

  async #find({ origin, list: url }: { origin: string; list: string }, row: VersionRow): Promise<void> {
    const { db, engine, outgoing, log } = this.#deps;
    const { revision: known, problem: before } = row;
    const found = await searchRevision({ outgoing, origin, known });
    faultPoint("client-version.found");
    if ("problem" in found) {
      if (found.problem !== before)
        log.warn({ reason: found.problem }, "no newer client version of WhatsApp was found");
      await saveSearchProblem(db, found.problem);
      const listed = await searchListedRevision({ outgoing, url });
      if ("revision" in listed) await saveListedRevision(db, listed.revision);
    } else {
      await saveRevision(db, found.revision);
      if (found.revision !== known)
        log.info({ revision: found.revision }, "WhatsApp has a newer client version");
    }
    faultPoint("client-version.kept");
    await this.#read();
    engine.publish(NAME, "found");
  }

  /** Resolves when a search that was requested now or shortly before has ended, or after a timeout. */
  async #search(): Promise<void> {
    const giveUpAt = performance.now() + WAIT_MS;
    let found: () => void = () => {};
    const unsubscribe = this.#deps.engine.subscribe(NAME, () => found());
    try {
      await requestSearch(this.#deps.db, MIN_INTERVAL_AFTER_REJECTION_MS);
      await this.#read();
      while (this.#row?.is_search_requested && performance.now() < giveUpAt) {
        const late = new AbortController();
        const notification = new Promise<void>((resolve) => {
          found = resolve;
        });
        await this.#runSoon();
        await Promise.race([
          notification,
          delay(LOOK_MS, undefined, { signal: late.signal }).catch(() => {}),
        ]);
        late.abort();
        await this.#read();
      }
    } finally {
      unsubscribe();
    }
  }

  async #runSoon(): Promise<void> {
    const { db, engine } = this.#deps;
    engine.wake(await runRecurringJobSoon(db, NAME), { changed: true });
  }

  async #read(): Promise<void> {
    this.#row = await readVersionRow(this.#deps.db);
  }

  /** The last known value stays valid while the database is unavailable. */
  async #reread(): Promise<void> {
    await this.#read().catch((error: unknown) => {
      if (!isTransientDatabaseError(error))
        this.#deps.log.error({ err: error }, "the client version could not be read");
    });
  }
}

function isDue({ found_at }: VersionRow): boolean {
  return found_at === null || Date.now() - found_at.getTime() > DUE_MS;
}

function isNewer(one: ClientVersion, other: ClientVersion): boolean {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at !== -1 && (one[at] ?? 0) > (other[at] ?? 0);
}

/** The time to store for an announced refusal, at least three days away; undefined if it cannot be meant. */
export function plausibleExpiration(at: Date, now = Date.now()): Date | undefined {
  const ms = at.getTime();
  if (!(ms > 0) || ms > now + MAX_NOTICE_MS) return undefined;
  return new Date(Math.max(ms, now + MIN_NOTICE_MS));
}

/** Advice about a rejected version. `next`: the newer version to use; `problem`: the last search's error. */
function adviseOnRejection(
  version: ClientVersion,
  policy: VersionPolicy,
  next: ClientVersion | undefined,
  problem: string | null | undefined,
): Pick<ClientVersionRejection, "message" | "action"> {
  const refused = `WhatsApp rejects version ${version.join(".")} of its web client`;
  if (next) return { message: `${refused}.`, action: `The gateway tries ${next.join(".")}.` };
  if ("pinned" in policy) {
    return {
      message: `${refused}, which WAYGATE_WHATSAPP_VERSION sets.`,
      action:
        "Set it to the version of web.whatsapp.com, or remove it so that the gateway finds the version itself, and restart.",
    };
  }
  if ("off" in policy) {
    return {
      message: `${refused}.`,
      action: "Update Waygate, or set WAYGATE_WHATSAPP_VERSION to a current one and restart.",
    };
  }
  if (problem) {
    return {
      message: `${refused}, and the gateway found no newer one (${problem.replace(/\.$/, "")}).`,
      action:
        "Let the gateway reach https://web.whatsapp.com, or set WAYGATE_WHATSAPP_VERSION to a current one and restart.",
    };
  }
  return {
    message: `${refused}, and web.whatsapp.com offers no newer one.`,
    action: "The gateway looks again every day. Update Waygate if this lasts.",
  };
}
