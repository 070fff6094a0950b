import type { Jid } from "../src/network/driver.ts";
import { phoneJid } from "../src/network/jid.ts";
import type { ChatState } from "../src/network/session-operations.ts";
import type { ConformancePerson, NetworkControls, NetworkGroupChange } from "./conformance/stage.ts";
import type { AppSetting, ServerGroupChange, WhatsAppControl } from "./whatsapp-server/control.ts";

/** Controls of the network around a paired phone and a contact, both by digits. */
export function networkControlsOf(control: WhatsAppControl, phone: string, contact: string): NetworkControls {
  return {
    async addPerson({ catalog: products, ...person }: ConformancePerson = {}) {
      const business = products && { business: { products } };
      const { phone: number } = await control.addPerson({ ...person, ...business });
      return { number, jid: phoneJid(number) };
    },
    addGroup: async (subject, members) => (await control.addGroup(subject, members)).jid as Jid,
    async group(jid) {
      const { members, description, ...group } = await control.group(jid);
      return {
        ...group,
        description: description || null,
        members: Object.fromEntries(members.map(({ phone: number, admin }) => [number, admin])),
      };
    },
    async changeGroup(by, group, change) {
      for (const one of toGroupChanges(change)) await control.changeGroup(by, group, one);
    },
    joinGroup: async (by, group) => void (await control.joinGroup(by, group)),
    phone: () => control.person(phone),
    async chat(chat) {
      const { lid } = chat.endsWith("@g.us") ? { lid: chat } : await control.person(chat);
      const settings = await control.appSettings(phone);
      return Object.assign(
        {},
        ...settings.filter(({ index }) => [chat, lid].includes(index[1] ?? "")).map(stateIn),
      );
    },
    async changeChat(chat, change) {
      for (const one of toModifications(change)) await control.changeSetting(phone, one, chat);
    },
    async labels() {
      const settings = await control.appSettings(phone);
      const jidOf = async (address: string) => (await control.person(address)).jid;
      const chats = await Promise.all(
        settings
          .flatMap(({ index: [kind, , chat = ""] }) => (kind?.startsWith("label_") && chat ? [chat] : []))
          .map(async (chat) => [chat, await jidOf(chat)] as const),
      );
      return labelsIn(settings, new Map(chats));
    },
    async changeLabel(label, deleted) {
      await control.changeSetting(phone, { addLabel: { ...label, deleted } }, "");
    },
    async assignLabel({ label_id: labelId, chat, message_id: messageId, labelled }) {
      const change = messageId === null ? "ChatLabel" : "MessageLabel";
      const body = { labelId, ...(messageId !== null && { messageId }) };
      await control.changeSetting(phone, { [`${labelled ? "add" : "remove"}${change}`]: body }, chat);
    },
    async nameContact(number, name) {
      const { lid, jid } = await control.person(number);
      await control.changeSetting(phone, { contact: { fullName: name, lidJid: lid } }, jid);
    },
    async contactName(number) {
      const { jid } = await control.person(number);
      const named = (await control.appSettings(phone)).filter(
        ({ index: [kind, of] }) => kind === "contact" && of === jid,
      );
      return (named.at(-1)?.action as Action | undefined)?.contactAction?.fullName ?? null;
    },
    showPresence: (by, presence, group) => control.presence(by, group ?? phone, presence),
    async rejectedPhoneCalls() {
      const seen = await control.seen(contact);
      return seen.flatMap((one) => (one.type === "call" && one.state === "reject" ? [one.id] : []));
    },
  };
}

function toGroupChanges(change: NetworkGroupChange): ServerGroupChange[] {
  if ("action" in change) return [{ change: change.action, members: change.who }];
  if ("subject" in change) return [{ change: "subject", subject: change.subject }];
  if ("description" in change) return [{ change: "description", description: change.description }];
  if ("announce" in change) return [{ change: change.announce ? "announcement" : "not_announcement" }];
  if ("locked" in change) return [{ change: change.locked ? "locked" : "unlocked" }];
  if ("join_approval" in change) return [{ change: "approval", on: change.join_approval }];
  if ("members_can_add" in change) return [{ change: "member_add_mode", everybody: change.members_can_add }];
  throw new Error("The phone changes no pictures.");
}

function toModifications({ archived, pinned, muted_until, unread }: ChatState): Record<string, unknown>[] {
  return [
    ...(archived === undefined ? [] : [{ archive: archived, lastMessages: [] }]),
    ...(pinned === undefined ? [] : [{ pin: pinned }]),
    ...(muted_until === undefined ? [] : [{ mute: muted_until?.getTime() ?? null }]),
    ...(unread === undefined ? [] : [{ markRead: !unread, lastMessages: [] }]),
  ];
}

interface Action {
  archiveChatAction?: { archived: boolean };
  pinAction?: { pinned: boolean };
  muteAction?: { muted: boolean; muteEndTimestamp?: string };
  markChatAsReadAction?: { read: boolean };
  contactAction?: { fullName: string };
}

function stateIn({ action }: AppSetting): ChatState {
  const { archiveChatAction, pinAction, muteAction, markChatAsReadAction } = action as Action;
  if (archiveChatAction) return { archived: archiveChatAction.archived };
  if (pinAction) return { pinned: pinAction.pinned };
  if (muteAction) {
    return { muted_until: muteAction.muted ? new Date(Number(muteAction.muteEndTimestamp)) : null };
  }
  return markChatAsReadAction ? { unread: !markChatAsReadAction.read } : {};
}

/** The labels after all these changes, as a phone keeps them. */
function labelsIn(settings: readonly AppSetting[], jids: ReadonlyMap<string, string>) {
  const labels: Awaited<ReturnType<NetworkControls["labels"]>> = {};
  for (const { index, action } of settings) {
    const [, id = "", chat = "", message] = index;
    const { labelEditAction: edit, labelAssociationAction: assignment } = action as LabelAction;
    if (edit?.deleted) delete labels[id];
    else if (edit) labels[id] = { name: edit.name, color: edit.color, on: labels[id]?.on ?? [] };
    const place = [jids.get(chat), ...(message ? [message] : [])].join("/");
    const label = assignment && labels[id];
    if (label)
      label.on = [...label.on.filter((one) => one !== place), ...(assignment.labeled ? [place] : [])];
  }
  return labels;
}

interface LabelAction {
  labelEditAction?: { name: string; color: number; deleted: boolean };
  labelAssociationAction?: { labeled: boolean };
}
