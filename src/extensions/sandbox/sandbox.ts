import { setTimeout as pause } from "node:timers/promises";
import type { InstanceRow } from "../../core/instances/instances.ts";
import { requireStorageQuota } from "../../core/media/media.ts";
import type { MessageId } from "../../network/driver.ts";
import { groupJid } from "../../network/jid.ts";
import type { SandboxActor } from "../../network/sandbox-control.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import type { sandboxContract } from "./contract.ts";
import { getPairedPhone, getSandboxInstance, requireHappened, type SandboxAccess } from "./paired-phone.ts";
import { type SandboxWorldDeps, sandboxWorldHandlers } from "./sandbox-world-handlers.ts";
import { type FetchMedia, toContent } from "./to-content.ts";

interface ScanDeps extends SandboxAccess {
  /** Requests the connection, like the connect route. */
  connectInstance(id: number): Promise<void>;
  /** How long a scan waits for a QR, and then for the connection. Default 10 s. */
  waitMs?: number;
}

const WAIT_MS = 10_000;

const POLL_MS = 40;

export interface SandboxDeps extends ScanDeps, SandboxWorldDeps {
  fetchMedia: FetchMedia;
}

/** Actions of contacts and the network around a sandbox instance, for tests. */
export function sandboxHandlers(deps: SandboxDeps): Handlers<typeof sandboxContract> {
  return {
    sandboxScan: ({ input: { id, phone } }) => scanPendingPairing(deps, id, phone),
    ...messageHandlers(deps),
    ...changeHandlers(deps),
    ...phoneHandlers(deps),
    ...sandboxWorldHandlers(deps),
  };
}

type Named = "sandboxStatus" | "sandboxReceive";

/** What people do with messages. */
type ChangeNames = "sandboxReact" | "sandboxVote" | "sandboxEdit" | "sandboxDelete" | "sandboxRead";

function messageHandlers(deps: SandboxDeps): Pick<Handlers<typeof sandboxContract>, Named> {
  return {
    async sandboxReceive({ input, reserveMemory }) {
      const { account_id, phone, control } = await getPairedPhone(deps, input.id);
      const content = await toContent(input, (url) => deps.fetchMedia(url, reserveMemory));
      if (content.kind === "media") await requireStorageQuota(deps.db, account_id, content.size);
      const reply_to = input.reply_to as MessageId | undefined;
      return {
        message_id: requireHappened(await control.receive(phone, { ...actorIn(input), content, reply_to })),
      };
    },

    async sandboxStatus({ input: { id, from, push_name, message_id, text, media }, reserveMemory }) {
      const { account_id, phone, control } = await getPairedPhone(deps, id);
      if (message_id !== undefined) {
        requireHappened(await control.viewStatus(phone, from, message_id as MessageId));
        return { message_id };
      }
      const content = await toContent({ text, media }, (url) => deps.fetchMedia(url, reserveMemory));
      if (content.kind === "media") await requireStorageQuota(deps.db, account_id, content.size);
      return { message_id: requireHappened(await control.postStatus(phone, { from, push_name, content })) };
    },
  };
}

function changeHandlers(deps: SandboxDeps): Pick<Handlers<typeof sandboxContract>, ChangeNames> {
  return {
    async sandboxReact({ input }) {
      const { id, message_id, reaction } = input;
      const act = { ...actorIn(input), message_id: message_id as MessageId, reaction };
      const { phone, control } = await getPairedPhone(deps, id);
      requireHappened(await control.react(phone, act));
      return { message_id };
    },

    async sandboxVote({ input }) {
      const { id, message_id, options } = input;
      const act = { ...actorIn(input), message_id: message_id as MessageId, options };
      const { phone, control } = await getPairedPhone(deps, id);
      const result = requireHappened(await control.vote(phone, act));
      if (result.outcome === "refused" && result.field === "message_id")
        throw new GatewayError("MESSAGE_NOT_FOUND", "The message is not a poll in this chat.");
      if (result.outcome === "refused") throw invalidField(result.field, result.reason, "not_found");
      return { message_id };
    },

    async sandboxEdit({ input }) {
      const { id, message_id, text } = input;
      const act = { ...actorIn(input), message_id: message_id as MessageId, text };
      const { phone, control } = await getPairedPhone(deps, id);
      requireHappened(await control.edit(phone, act));
      return { message_id };
    },

    async sandboxDelete({ input }) {
      const { id, message_id } = input;
      const act = { ...actorIn(input), message_id: message_id as MessageId };
      const { phone, control } = await getPairedPhone(deps, id);
      requireHappened(await control.delete(phone, act));
      return { message_id };
    },

    async sandboxRead({ input }) {
      const message_ids = [...(input.message_ids ?? []), ...(input.message_id ? [input.message_id] : [])];
      const act = { ...actorIn(input), message_ids: message_ids as MessageId[] };
      const { phone, control } = await getPairedPhone(deps, input.id);
      requireHappened(await control.read(phone, act));
      return { message_id: message_ids[0] ?? "", message_ids };
    },
  };
}

type Unnamed = "sandboxCall" | "sandboxPresence" | "sandboxDrop" | "sandboxBan";

function phoneHandlers(deps: SandboxDeps): Pick<Handlers<typeof sandboxContract>, Unnamed> {
  return {
    async sandboxCall({ input }) {
      const act = { ...actorIn(input), video: input.video };
      const { phone, control } = await getPairedPhone(deps, input.id);
      return { call_id: requireHappened(await control.startPhoneCall(phone, act)) };
    },

    async sandboxPresence({ input }) {
      const { id, presence, last_seen_at } = input;
      const { phone, control } = await getPairedPhone(deps, id);
      requireHappened(await control.showPresence(phone, { ...actorIn(input), presence, last_seen_at }));
      return { presence };
    },

    async sandboxDrop({ input }) {
      const { phone, control } = await getPairedPhone(deps, input.id);
      requireHappened(await control.drop(phone));
      return { phone };
    },

    async sandboxBan({ input }) {
      const { phone, control } = await getPairedPhone(deps, input.id);
      requireHappened(await control.ban(phone));
      return { phone };
    },
  };
}

interface ActorInput {
  from: string;
  push_name?: string;
  group_jid?: string;
  from_me: boolean;
}

function actorIn({ from, push_name, group_jid, from_me }: ActorInput): SandboxActor {
  return { from, push_name, group_jid: group_jid === undefined ? undefined : groupJid(group_jid), from_me };
}

/** Waits for a QR or code, scans it, and waits for the connection. */
async function scanPendingPairing(deps: ScanDeps, id: number, phone: string | undefined) {
  await getUnpaired(deps, id);
  let scanned = await scanShown(deps, id, phone);
  if (scanned === undefined) {
    await deps.connectInstance(id);
    scanned = await until(deps, () => scanShown(deps, id, phone));
  }
  if (scanned === undefined)
    throw new GatewayError("CONNECT_FAILED", "The instance shows no QR code. Connect it first.");
  const number = scanned;
  await until(deps, async () => isConnectedWith(number, await getSandboxInstance(deps, id)) || undefined);
  const { jid, lid, status } = await getSandboxInstance(deps, id);
  return { phone: number, jid, lid, status };
}

/** The number of the phone that scanned; undefined while there is nothing to scan. */
async function scanShown(deps: ScanDeps, id: number, phone: string | undefined): Promise<string | undefined> {
  const { account_id, qr, pairing_code } = await getUnpaired(deps, id);
  const shown = pairing_code ?? qr;
  if (shown === null) return undefined;
  const scan = await deps.controlOf(account_id).scan(shown, phone);
  if (scan.outcome === "refused") throw invalidField("phone", scan.reason, "refused_by_other");
  return scan.outcome === "scanned" ? scan.phone : undefined;
}

async function getUnpaired(deps: ScanDeps, id: number): Promise<InstanceRow> {
  const instance = await getSandboxInstance(deps, id);
  if (instance.status !== "connected") return instance;
  const { phone, status } = instance;
  throw new GatewayError("CONFLICT", "The instance is already paired. Log it out first.", {
    details: { status, phone },
  });
}

function isConnectedWith(phone: string, instance: InstanceRow): boolean {
  return instance.status === "connected" && instance.phone === phone;
}

async function until<T>(
  { waitMs = WAIT_MS }: ScanDeps,
  poll: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const found = await poll();
    if (found !== undefined || performance.now() > deadline) return found;
    await pause(POLL_MS);
  }
}
