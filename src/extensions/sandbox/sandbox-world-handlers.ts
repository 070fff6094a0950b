import type { Jid, MessageId } from "../../network/driver.ts";
import type { GroupChange } from "../../network/groups.ts";
import { groupJid, phoneJid } from "../../network/jid.ts";
import type { OperationResult } from "../../network/session-operations.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, RawResponse } from "../../platform/http/handler.ts";
import type { InputOf } from "../../platform/http/route.ts";
import type { sandboxContract } from "./contract.ts";
import { getPairedPhone, requireHappened, type SandboxAccess } from "./paired-phone.ts";

export interface SandboxWorldDeps extends SandboxAccess {
  /** The bytes of the picture of a phone or a group. */
  findPicture(id: string): Promise<Uint8Array | undefined>;
}

type World =
  | "sandboxContact"
  | "sandboxChat"
  | "sandboxLabel"
  | "sandboxGroup"
  | "sandboxGroupParticipants"
  | "sandboxGroupJoin"
  | "sandboxGroupSettings"
  | "getSandboxPicture";

/** Handlers for everything around an instance except messages. */
export function sandboxWorldHandlers(deps: SandboxWorldDeps): Pick<Handlers<typeof sandboxContract>, World> {
  return {
    async sandboxContact({ input: { id, from, ...change } }) {
      const { phone, control } = await getPairedPhone(deps, id);
      return requireHappened(await control.setPerson(phone, from, change));
    },

    async sandboxChat({ input: { id, from, group_jid, ...change } }) {
      const chat = group_jid === undefined ? phoneJid(from ?? "") : groupJid(group_jid);
      const { phone, control } = await getPairedPhone(deps, id);
      return requireHappened(await control.changeChat(phone, chat, withoutGaps(change)));
    },

    async sandboxLabel({ input: { id, label_id, name, color, deleted, labelled, ...chat } }) {
      const { phone, control } = await getPairedPhone(deps, id);
      const jid = chatOf(chat);
      requireHappened(
        jid === undefined
          ? await control.changeLabel(phone, { id: label_id, name: name ?? "", color }, deleted)
          : await control.assignLabel(phone, {
              label_id,
              chat: jid,
              message_id: (chat.message_id ?? null) as MessageId | null,
              labelled,
            }),
      );
      return { label_id };
    },

    async sandboxGroup({ input: { id, from, subject, participants, admin } }) {
      const { phone, control } = await getPairedPhone(deps, id);
      const admins = admin ? [phone] : [];
      const all = [phone, ...participants];
      return { jid: await control.createGroup({ from, subject, participants: all, admins }) };
    },

    async sandboxGroupParticipants({ input: { id, from, group_jid, action, participants } }) {
      const { control } = await getPairedPhone(deps, id);
      return unwrap(await control.changeParticipants(groupJid(group_jid), from, action, participants));
    },

    async sandboxGroupJoin({ input: { id, from, group_jid } }) {
      const { control } = await getPairedPhone(deps, id);
      const jid = groupJid(group_jid);
      return { jid, ...unwrap(await control.joinGroup(jid, from)) };
    },

    async sandboxGroupSettings({ input }) {
      const { control } = await getPairedPhone(deps, input.id);
      const jid = groupJid(input.group_jid);
      for (const change of changesIn(input)) unwrap(await control.changeGroup(jid, input.from, change));
      return { jid };
    },

    async getSandboxPicture({ input: { pictureId } }) {
      const bytes = await deps.findPicture(pictureId);
      if (!bytes) throw new GatewayError("NOT_FOUND", "There is no such picture.");
      return new RawResponse("image/jpeg", Buffer.from(bytes));
    },
  };
}

function changesIn(input: InputOf<typeof sandboxContract.sandboxGroupSettings>): GroupChange[] {
  const { subject, description, announce, locked, join_approval, members_can_add } = input;
  return [
    ...(subject === undefined ? [] : [{ subject }]),
    ...(description === undefined ? [] : [{ description }]),
    ...(announce === undefined ? [] : [{ announce }]),
    ...(locked === undefined ? [] : [{ locked }]),
    ...(join_approval === undefined ? [] : [{ join_approval }]),
    ...(members_can_add === undefined ? [] : [{ members_can_add }]),
  ];
}

/** A change contains only the changed fields. */
function withoutGaps<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

function unwrap<Value>(result: OperationResult<Value>): Value {
  if (result.outcome === "done") return result.value;
  throw new GatewayError(result.outcome === "refused" ? result.code : "UNAVAILABLE", result.reason);
}

function chatOf({ from, group_jid }: { from?: string; group_jid?: string }): Jid | undefined {
  if (group_jid !== undefined) return groupJid(group_jid);
  return from === undefined ? undefined : phoneJid(from);
}
