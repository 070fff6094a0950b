import type { Engine } from "../../../engine/engine.ts";
import type { Jid } from "../../../network/driver.ts";
import type { Db } from "../../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../../platform/gateway-error.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import type { FindCountry, NumberResolver, Recipient } from "../../contacts/contacts.ts";
import type { StoredContent } from "../log/message-view.ts";
import type { SendRequest } from "./accept-send.ts";
import { requireNewChatAllowed } from "./new-chats.ts";
import type { IdempotencyKey } from "./prepare/idempotency-key.ts";
import {
  type ContentKind,
  findQuoted,
  phonesOf,
  type ReadContentOptions,
  readContents,
  readRecipient,
  type SendInput,
} from "./prepare/read-content.ts";
import type { ForwardOptions } from "./prepare/read-forwarded.ts";
import { readSchedule } from "./prepare/read-schedule.ts";
import {
  type RememberedInstances,
  requireConnected,
  requirePaired,
  type SendingInstance,
} from "./sending-instance.ts";

export interface PrepareSendDeps
  extends Omit<ReadContentOptions, "country">,
    Pick<ForwardOptions, "openFile"> {
  db: Db;
  engine: Engine;
  numbers: NumberResolver;
  findCountry: FindCountry;
  instances: RememberedInstances;
  queue: "postgres" | "off";
  /** Unset: the gateway has no quick replies. */
  findQuickReply?: FindQuickReply | undefined;
}

/** Finds the quick reply of an account by its shortcut, with or without the slash, filled in for one chat. */
export type FindQuickReply = (
  chat: QuickReplyChat,
  text: string,
) => Promise<{ content: string; media_url: string | null } | undefined>;

export interface QuickReplyChat {
  account_id: number;
  instance_id: number;
  recipient: Recipient;
}

/** A send as its route received it. */
export interface SendCommand {
  instance_id: number;
  kind: ContentKind;
  input: SendInput;
  mode: SendRequest["mode"];
  origin: SendRequest["origin"];
  idempotency: IdempotencyKey | null;
  /** The span that the send belongs to. */
  trace: TraceParent | undefined;
}

/** Checks and parses a send. Rejects everything possible before it fetches the file. */
export async function prepareSend(deps: PrepareSendDeps, command: SendCommand): Promise<SendRequest> {
  const { instance_id, kind, input, mode, origin, idempotency, trace } = command;
  if (mode === "async") await requireQueue(deps);
  else await requireSessionNode(deps);
  const schedule = await readSchedule(deps.db, instance_id, input);
  const quoted = await findQuoted(deps.db, instance_id, kind, input);
  const country = await deps.findCountry({ instance_id }, phonesOf(input));
  const recipient = readRecipient(kind, input, quoted, country);
  const readInstance = () => requireSendable(deps, command, recipient.jid);
  const remembered =
    mode === "sync" && kind !== "media" && kind !== "forward" ? deps.instances.find(instance_id) : undefined;
  const instance = remembered ?? (await readInstance());
  const { account_id } = instance;
  const filled = await useQuickReply(deps, { account_id, instance_id, recipient }, kind, input);
  const contents = await readContents(
    { ...deps, country, account_id, instance_id },
    filled.kind,
    filled.input,
    quoted && { of: quoted, to: recipient.jid },
  );
  const [first, ...others] = contents;
  const resolve = (one: StoredContent) => resolveMentions(deps.numbers, instance, one, filled.input.mentions);
  return {
    instance,
    ...(remembered && { readInstance }),
    recipient,
    content: await resolve(first),
    others: await Promise.all(others.map(resolve)),
    mode,
    origin,
    client_message_id: input.client_message_id ?? null,
    track_id: input.track_id ?? null,
    metadata: input.metadata ?? null,
    delay_ms: input.delay ?? 0,
    schedule,
    idempotency,
    trace,
  };
}

/** The instance, if it can accept a send now. Throws INSTANCE_NOT_CONNECTED and REACHOUT_TIMELOCK. */
async function requireSendable(
  { db, instances }: PrepareSendDeps,
  { instance_id, mode }: SendCommand,
  chat: Jid,
): Promise<SendingInstance> {
  if (mode === "async") return requirePaired(instances.read, instance_id);
  const instance = await requireConnected(instances.read, instance_id);
  await requireNewChatAllowed(db, instance, chat);
  return instance;
}

/** Throws UNAVAILABLE if no node could send a message now. */
async function requireSessionNode({ engine }: Pick<PrepareSendDeps, "engine">): Promise<void> {
  if (await engine.hasLiveNode("sessions")) return;
  throw new GatewayError("UNAVAILABLE", "No node that holds sessions is running, so nothing was sent.", {
    retryAfterSeconds: 5,
  });
}

/** Throws QUEUE_UNAVAILABLE if work could not be queued and carried out: its events need a worker too. */
export async function requireQueue({
  queue,
  engine,
}: Pick<PrepareSendDeps, "queue" | "engine">): Promise<void> {
  if (queue === "off")
    throw queueUnavailable("The queue is disabled (WAYGATE_QUEUE=off), so only synchronous sends work.");
  const [worker, sessions] = await Promise.all([
    engine.hasLiveNode("worker"),
    engine.hasLiveNode("sessions"),
  ]);
  if (!worker) throw queueUnavailable("No message worker is running.");
  if (!sessions) throw queueUnavailable("No node that holds sessions is running, so nothing was queued.");
}

/** The error for an async send that the gateway cannot carry out now. */
export function queueUnavailable(message: string, cause?: unknown): GatewayError {
  return new GatewayError("QUEUE_UNAVAILABLE", message, { cause, retryAfterSeconds: 5 });
}

const BARE_SHORTCUT = /^\s*\/[\p{L}\p{N}_-]{1,64}\s*$/u;

/** Fills in a quick reply: the named one, or the one whose `/shortcut` is the whole text. */
async function useQuickReply(
  { findQuickReply }: Pick<PrepareSendDeps, "findQuickReply">,
  chat: QuickReplyChat,
  kind: ContentKind,
  input: SendInput,
): Promise<{ kind: ContentKind; input: SendInput }> {
  const name = input.quick_reply ?? (BARE_SHORTCUT.test(input.text ?? "") ? input.text : undefined);
  if (kind !== "text" || name === undefined) return { kind, input };
  if (!findQuickReply && input.quick_reply !== undefined)
    throw new GatewayError(
      "NOT_AVAILABLE",
      "This gateway does not have quick replies. Send the text itself.",
    );
  const reply = await findQuickReply?.(chat, name);
  if (!reply && input.quick_reply !== undefined)
    throw invalidField("quick_reply", "is not the shortcut of a quick reply", "not_found");
  if (!reply) return { kind, input };
  const { content, media_url } = reply;
  if (media_url === null) return { kind, input: { ...input, text: content } };
  const { text: _name, ...others } = input;
  return { kind: "media", input: { ...others, quick_reply: name, url: media_url, caption: content } };
}

/**
 * Replaces mentioned numbers, as they are `typed` in the request, by the format that the network knows, also in the text.
 * Clients show a mention only where the text has `@` and the digits of its address.
 */
async function resolveMentions(
  numbers: NumberResolver,
  instance: Pick<SendingInstance, "id" | "account_id">,
  content: StoredContent,
  typed: readonly string[] = [],
): Promise<StoredContent> {
  const { mentions: requested = [] } = content;
  if (requested.length === 0) return content;
  const mentions = await numbers.resolveAll(instance, requested);
  const renamed = new Map(
    requested.flatMap((jid, at) => {
      const digits = digitsOf(mentions[at] ?? jid);
      return [typed[at]?.replace(/\D/g, "") ?? digits, digitsOf(jid)].map(
        (before) => [before, digits] as const,
      );
    }),
  );
  const rename = (text: string) =>
    text.replace(/@(\d+)/g, (whole, digits: string) =>
      renamed.has(digits) ? `@${renamed.get(digits)}` : whole,
    );
  const resolved = { ...content, mentions: [...new Set(mentions)] };
  if (resolved.kind === "text") return { ...resolved, text: rename(resolved.text) };
  if (resolved.kind === "media" && resolved.caption)
    return { ...resolved, caption: rename(resolved.caption) };
  return resolved;
}

function digitsOf(jid: Jid): string {
  return jid.slice(0, jid.indexOf("@"));
}
