import { setTimeout as delay } from "node:timers/promises";
import type { Jid, Presence, ReachableSession, SendResult } from "../../../network/driver.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { withTimeout } from "../../../platform/limits/with-timeout.ts";
import {
  type Conversations,
  type FindCountry,
  type NumberResolver,
  type RecipientInput,
  resolveForInstance,
} from "../../contacts/contacts.ts";
import { sessionUnreachable } from "../../session-operations/session-operations.ts";
import { SEND_ERROR } from "../send/send-error.ts";
import { type ReadInstance, requireConnected } from "../send/sending-instance.ts";

export interface PresenceDeps {
  readInstance: ReadInstance;
  /** The live session of an instance, on this node or another, while it is connected. */
  findSession: (instanceId: number) => Promise<ReachableSession | undefined>;
  ackTimeoutMs: number;
  conversations: Conversations;
  numbers: NumberResolver;
  findCountry: FindCountry;
}

export interface PresenceInput extends RecipientInput {
  id: number;
  presence: Presence | keyof typeof ALIASES;
  duration_ms?: number;
}

const ALIASES = { composing: "typing", recording_audio: "recording" } as const;

/** Shows the presence at once without storing it, and sets `paused` after the optional duration. */
export async function setPresence(
  deps: PresenceDeps,
  { id, presence: requested, duration_ms, ...target }: PresenceInput,
  signal: AbortSignal,
): Promise<{ presence: Presence; jid: Jid | null }> {
  const presence = isAlias(requested) ? ALIASES[requested] : requested;
  const isOfChat = presence !== "available" && presence !== "unavailable";
  const named = isOfChat ? (await resolveForInstance(deps.findCountry, id, target)).jid : undefined;
  const instance = await requireConnected(deps.readInstance, id);
  const jid = named && (await deps.numbers.resolve(instance, await deps.conversations.addressOf(id, named)));
  const show = await presenter(deps, id);
  await show(presence, jid);
  if (jid && duration_ms && presence !== "paused") {
    await delay(duration_ms, undefined, { signal }).catch(() => {});
    await show("paused", jid);
  }
  return { presence, jid: jid ?? null };
}

function isAlias(presence: PresenceInput["presence"]): presence is keyof typeof ALIASES {
  return Object.hasOwn(ALIASES, presence);
}

async function presenter({ findSession, ackTimeoutMs }: PresenceDeps, id: number) {
  const session = await findSession(id);
  if (!session) throw sessionUnreachable();
  return async (presence: Presence, jid?: Jid): Promise<void> => {
    requireShown(await withTimeout(session.setPresence(presence, jid), ackTimeoutMs));
  };
}

function requireShown(result: SendResult | undefined): void {
  if (result?.outcome === "accepted") return;
  if (!result || result.outcome === "unknown")
    throw new GatewayError("SEND_TIMEOUT", SEND_ERROR.notConfirmed.message);
  throw new GatewayError(result.outcome === "refused" ? result.code : "SEND_FAILED", result.reason);
}
