import { sql } from "kysely";
import type { Lane } from "../../engine/engine.ts";
import type { Session } from "../../network/driver.ts";
import { isTransientDatabaseError } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";
import {
  CONTROL_JOB_GROUP,
  mayUseSandbox,
  SANDBOX_NOT_ALLOWED,
  SANDBOX_OFF,
  type SandboxPolicy,
} from "../instances/instances.ts";
import type { ConnectionRecorder } from "./connection/connection-recorder.ts";
import { readSessionOptions, type SessionOptions, type SessionOptionsDeps } from "./read-session-options.ts";

/** The open sessions of this process. */
export interface SessionOpener {
  /** Returns the instance's session, opened with these options if there is none; the caller connects it. */
  open(instance: number, network: "whatsapp" | "sandbox", options: SessionOptions): Session;
  /** Closes and removes the session; the identity stays. */
  close(instance: number): Promise<void>;
}

export interface OpenSessionDeps extends SessionOptionsDeps, SandboxPolicy {
  recorder: ConnectionRecorder;
  log: Log;
}

/** Clears the previous owner's connection state and reconnects an instance that should be connected. */
export async function resumeSession(
  deps: OpenSessionDeps,
  sessions: SessionOpener,
  lane: Lane,
): Promise<void> {
  const id = Number(lane.key);
  const instance = await deps.db
    .selectFrom("instance")
    .select(["network", "wanted", "pairing_phone", hasControlJob(lane.id).as("has_job")])
    .where("id", "=", id)
    .executeTakeFirst();
  if (instance?.wanted !== "connected" || instance.has_job) return;
  await deps.recorder.record(id, { type: "disconnected", reason: "connection_lost", will_retry: true });
  await openSession(deps, sessions, { id, ...instance }, instance.pairing_phone ?? undefined);
}

// Read in one statement with `wanted`, since a request changes both in one commit.
function hasControlJob(lane: number) {
  return sql<boolean>`exists (select from job where lane = ${lane} and prio = 0 and pos < 0 and grp = ${CONTROL_JOB_GROUP})`;
}

/**
 * Opens and connects; events report the results. A session that cannot be opened is reported as failed.
 * Throws temporary database errors, so that the job is retried.
 */
export async function openSession(
  deps: OpenSessionDeps,
  sessions: SessionOpener,
  { id, network }: { id: number; network: "whatsapp" | "sandbox" },
  pairingPhone?: string,
): Promise<void> {
  try {
    const options = await readSessionOptions(deps, id);
    if (!options) await deps.recorder.record(id, { type: "failed", reason: "proxy_not_allowed" });
    else if (network === "sandbox" && !(await mayUseSandbox(deps, options.account_id)))
      await deps.recorder.record(id, { type: "failed", reason: SANDBOX_NOT_ALLOWED, detail: SANDBOX_OFF });
    else sessions.open(id, network, options).connect({ pairingPhone });
  } catch (error) {
    if (isTransientDatabaseError(error)) throw error;
    deps.log.error({ err: error, instance_id: id }, "the session could not be opened");
    await deps.recorder.record(id, { type: "failed", reason: "session_failed", detail: NOT_OPENED });
  }
}

const NOT_OPENED =
  "The gateway cannot open the session of this instance. Its operator finds the cause in the log.";
