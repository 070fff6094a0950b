import { areJidsSameUser, type BinaryNode, cleanMessage, decryptMessageNode, type WAMessage } from "baileys";
import { silentBaileysLogger } from "../baileys-fixes/silent-baileys-logger.ts";
import { isBroadcastList } from "../stanzas/stanza.ts";
import { type JournalEntry, readMessageContext, unpadded } from "./journal-entry.ts";

type Repository = Parameters<typeof decryptMessageNode>[3];

export interface DecryptedMessage {
  message: WAMessage;
  stanza: Record<string, string>;
  /** A part that was decrypted, and is no message that the protocol knows. */
  undecoded?: Uint8Array | undefined;
}

/** The message of a stanza, from the stored plaintexts of its ciphertexts. */
export async function readStanza(
  entries: readonly JournalEntry[],
  me: { id: string; lid?: string },
): Promise<DecryptedMessage | undefined> {
  const [first] = entries;
  if (!first) return undefined;
  const tokens = entries.map((entry) => ({ entry, token: Buffer.from(entry.id) }));
  const node: BinaryNode = {
    tag: "message",
    attrs: first.stanza,
    content: tokens
      .sort((a, b) => a.entry.index - b.entry.index)
      .map(({ entry, token }) => ({ tag: "enc", attrs: entry.enc, content: token })),
  };
  const plaintexts = new Map<Uint8Array, Buffer>(tokens.map(({ entry, token }) => [token, entry.plaintext]));
  const { fullMessage, decrypt } = decryptMessageNode(
    node,
    me.id,
    me.lid ?? "",
    storedPlaintexts(plaintexts),
    silentBaileysLogger,
  );
  // Baileys knows our phone's message to a broadcast list only by number.
  const { from = "", participant } = first.stanza;
  if (isBroadcastList(from) && areJidsSameUser(participant, me.lid)) fullMessage.key.fromMe = true;
  await decrypt();
  cleanMessage(fullMessage, me.id, me.lid ?? "");
  // Our own phone may name the secret only around the message, which Baileys drops.
  if (fullMessage.key.fromMe && fullMessage.message && !fullMessage.message.messageContextInfo)
    fullMessage.message.messageContextInfo = readMessageContext(first.plaintext);
  const undecoded = entries.find((entry) => entry.isUndecoded);
  return {
    message: fullMessage,
    stanza: first.stanza,
    undecoded: undecoded && unpadded(undecoded.plaintext),
  };
}

/** A repository that returns the stored plaintexts and changes no state. */
function storedPlaintexts(plaintexts: ReadonlyMap<Uint8Array, Buffer>): Repository {
  const find = async (ciphertext: Uint8Array) => plaintexts.get(ciphertext) ?? Buffer.alloc(0);
  const repository = {
    decryptMessage: ({ ciphertext }: { ciphertext: Uint8Array }) => find(ciphertext),
    decryptGroupMessage: ({ msg }: { msg: Uint8Array }) => find(msg),
    processSenderKeyDistributionMessage: async () => {},
    migrateSession: async () => ({ migrated: 0, skipped: 0, total: 0 }),
    lidMapping: { getLIDForPN: async () => null, storeLIDPNMappings: async () => {} },
  };
  return repository as unknown as Repository;
}
