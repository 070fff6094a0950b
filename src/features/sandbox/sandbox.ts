import type { MessageId } from "../../network/driver.ts";
import { groupJid } from "../../network/jid.ts";
import type { SandboxActor } from "../../network/sandbox-control.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import { requireStorageQuota } from "../media/media.ts";
import type { sandboxContract } from "./contract.ts";
import { getPairedPhone, requireHappened } from "./paired-phone.ts";
import { type SandboxWorldDeps, sandboxWorldHandlers } from "./sandbox-world-handlers.ts";
import { type ScanDeps, scanPendingPairing } from "./scan-pending-pairing.ts";
import { type FetchMedia, toContent } from "./to-content.ts";

export interface SandboxDeps extends ScanDeps, SandboxWorldDeps {
  fetchMedia: FetchMedia;
}

/** Actions of contacts and the network around a sandbox instance, for tests. */
export function sandboxHandlers(deps: SandboxDeps): Handlers<typeof sandboxContract> {
  return {
    sandboxScan: ({ input: { id, phone } }) => scanPendingPairing(deps, id, phone),
    ...messageHandlers(deps),
    ...phoneHandlers(deps),
    ...sandboxWorldHandlers(deps),
  };
}

type Named = "sandboxReceive" | "sandboxReact" | "sandboxEdit" | "sandboxDelete" | "sandboxRead";

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

    async sandboxReact({ input }) {
      const { id, message_id, reaction } = input;
      const act = { ...actorIn(input), message_id: message_id as MessageId, reaction };
      const { phone, control } = await getPairedPhone(deps, id);
      requireHappened(await control.react(phone, act));
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

type Unnamed = "sandboxCall" | "sandboxDrop" | "sandboxBan";

function phoneHandlers(deps: SandboxDeps): Pick<Handlers<typeof sandboxContract>, Unnamed> {
  return {
    async sandboxCall({ input }) {
      const act = { ...actorIn(input), video: input.video };
      const { phone, control } = await getPairedPhone(deps, input.id);
      return { call_id: requireHappened(await control.startPhoneCall(phone, act)) };
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
