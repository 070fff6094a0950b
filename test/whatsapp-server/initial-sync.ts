import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { proto } from "baileys";
import { appStateKeyOf } from "./app-state.ts";
import type { Companion } from "./companion.ts";
import { saltInHistory } from "./contact-trust.ts";
import type { FileAddress, HistoryChat } from "./control.ts";
import type { Network } from "./network.ts";
import type { ServerPerson } from "./person.ts";
import { sendToDevices } from "./phone/send-to-devices.ts";
import { seconds } from "./protocol/nodes.ts";

const { Type } = proto.Message.ProtocolMessage;
const { HistorySyncType } = proto.HistorySync;

/** Sends the app state key, history and names to a newly linked device. */
export async function initialSync(network: Network, companion: Companion): Promise<void> {
  const known = network.settings.history.flatMap(({ chat }) => network.findPerson(chat) ?? []);
  await shareKey(network, companion);
  await sendHistory(network, companion, {
    syncType: HistorySyncType.INITIAL_BOOTSTRAP,
    conversations: network.settings.history.map((chat) => conversation(network, companion.person, chat)),
    progress: 100,
    globalSettings: {
      disappearingModeDuration: companion.person.disappearing,
      disappearingModeTimestamp: companion.person.disappearingSetAt,
    },
    phoneNumberToLidMappings: known.map((one) => ({ pnJid: one.jid("pn"), lidJid: one.jid("lid") })),
  });
  await sendHistory(network, companion, {
    syncType: HistorySyncType.PUSH_NAME,
    pushnames: [companion.person, ...known].map((one) => ({ id: one.jid("pn"), pushname: one.name })),
  });
}

async function shareKey(network: Network, companion: Companion): Promise<void> {
  await peer(network, companion, {
    type: Type.APP_STATE_SYNC_KEY_SHARE,
    appStateSyncKeyShare: { keys: [appStateKeyOf(companion.person)] },
  });
}

async function sendHistory(
  network: Network,
  companion: Companion,
  history: proto.IHistorySync,
): Promise<void> {
  const packed = await pack(companion.person, history);
  await notifyOfHistory(network, companion, history, { initialHistBootstrapInlinePayload: packed });
}

const pack = (person: ServerPerson, history: proto.IHistorySync): Promise<Buffer> =>
  promisify(deflate)(Buffer.concat([proto.HistorySync.encode(history).finish(), saltInHistory(person)]));

/** History as a file, or with a false address. */
export async function sendHistoryFile(
  network: Network,
  companion: Companion,
  chats: HistoryChat[],
  at: FileAddress | undefined,
): Promise<void> {
  const history = {
    syncType: HistorySyncType.RECENT,
    conversations: chats.map((chat) => conversation(network, companion.person, chat)),
    progress: 100,
  };
  const { url, directPath, ...file } = await network.media.store(
    await pack(companion.person, history),
    "md-msg-hist",
  );
  await notifyOfHistory(network, companion, history, { ...file, ...(at ?? { url, directPath }) });
}

async function notifyOfHistory(
  network: Network,
  companion: Companion,
  { syncType }: proto.IHistorySync,
  file: object,
): Promise<void> {
  const about = { syncType: syncType as number, chunkOrder: 1, progress: 100 };
  await peer(network, companion, {
    type: Type.HISTORY_SYNC_NOTIFICATION,
    historySyncNotification: { ...about, ...file },
  });
}

/** The phone announces that its chats use LIDs. */
export async function announceMigration(network: Network, companion: Companion): Promise<void> {
  const { phone, lid } = companion.person;
  const encodedMappingPayload = proto.LIDMigrationMappingSyncPayload.encode({
    pnToLidMappings: [{ pn: Number(phone), assignedLid: Number(lid) }],
    chatDbMigrationTimestamp: seconds(),
  }).finish();
  await peer(network, companion, {
    type: Type.LID_MIGRATION_MAPPING_SYNC,
    lidMigrationMappingSyncMessage: { encodedMappingPayload },
  });
}

/** Announces an earlier migration with the next history. */
export async function announceMigrationInHistory(network: Network, companion: Companion): Promise<void> {
  const globalSettings = { chatDbLidMigrationTimestamp: seconds() };
  await sendHistory(network, companion, { syncType: HistorySyncType.RECENT, globalSettings });
}

/** Every history contains the person's salt. */
export async function sendSalt(network: Network, companion: Companion): Promise<void> {
  await sendHistory(network, companion, { syncType: HistorySyncType.RECENT });
}

/** To the own linked device only. */
export async function peer(
  network: Network,
  companion: Companion,
  protocolMessage: proto.Message.IProtocolMessage,
): Promise<void> {
  const { person } = companion;
  const to = { kind: "person", person, addressing: "pn" } as const;
  await sendToDevices(network, person.handset, to, { protocolMessage }, { peer: companion });
}

function conversation(
  network: Network,
  owner: ServerPerson,
  { chat, name, messages, archived, pinned, muted_until, unread }: HistoryChat,
): proto.IConversation {
  const with_ = network.findPerson(chat);
  const timer = with_ && owner.handset.timers.get(with_.phone);
  const id = with_ ? with_.jid("pn") : chat;
  return {
    id,
    name,
    archived,
    muteEndTime: muted_until,
    markedAsUnread: unread,
    ...(timer && {
      ephemeralExpiration: timer.expiration,
      // In milliseconds here.
      ephemeralSettingTimestamp: timer.set_at * 1000,
    }),
    ...(pinned && { pinned: seconds() }),
    ...(with_ && { lidJid: with_.jid("lid"), pnJid: with_.jid("pn") }),
    messages: messages.map((message, i) => {
      const sender = message.sender && network.person(message.sender).jid("lid");
      return {
        msgOrderId: i,
        message: {
          key: { remoteJid: id, id: message.id, fromMe: message.from_me ?? false, participant: sender },
          message: { conversation: message.text },
          messageSecret: message.secret,
          messageTimestamp: Math.floor(message.at / 1000),
          ...(!message.from_me && { pushName: with_?.name ?? owner.name }),
        },
      };
    }),
  };
}
