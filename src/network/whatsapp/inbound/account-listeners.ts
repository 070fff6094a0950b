import {
  type BinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  proto,
  toNumber,
  type WASocket,
} from "baileys";
import type { OnChunk } from "../files/download-media.ts";
import { toMediaRef, type WhatsAppMediaRef } from "../files/whatsapp-media-ref.ts";
import { type JournalEntry, readMessage } from "../journal/journal-entry.ts";
import type { AccountFacts } from "../keys/account-facts.ts";
import type { WriteBehindKeyStore } from "../keys/write-behind-key-store.ts";
import { readSaltSetting, saltOfHistory } from "../wire/read-salt-setting.ts";

export interface AccountListenersOptions {
  sock: WASocket;
  facts: AccountFacts;
  keyStore: WriteBehindKeyStore;
  downloadMedia(ref: WhatsAppMediaRef, onChunk: OnChunk): Promise<"done" | "gone">;
}

const MOST_SETTINGS_BYTES = 16 * 1024 * 1024;
/** The property `lid_one_on_one_migration_enabled`. */
const LID_MIGRATED = "9435";
/** The property `message_edit_to_message_secret_sender_enabled`. */
const EDITS_ENCRYPTED = "16057";
const ENABLED = ["1", "true"];

/** Learns from one socket what the network and the phone say about the account. */
export class AccountListeners {
  readonly #options: AccountListenersOptions;

  constructor(options: AccountListenersOptions) {
    this.#options = options;
    const { ws } = options.sock;
    ws.on("CB:iq,,props", (node: BinaryNode) => this.#onProperties(node));
    ws.on("CB:iq,,sync", (node: BinaryNode) => void this.#onSettings(node).catch(() => {}));
  }

  /** The phone tells its devices when the account is migrated while they are linked. */
  onPeerMessage({ plaintext }: JournalEntry): void {
    const pushed = readMessage(plaintext).protocolMessage?.lidMigrationMappingSyncMessage;
    if (!pushed?.encodedMappingPayload) return;
    try {
      const payload = proto.LIDMigrationMappingSyncPayload.decode(pushed.encodedMappingPayload);
      this.#latchAt(payload.chatDbMigrationTimestamp);
    } catch {
      // Only the phone can send it, and it says nothing.
    }
  }

  onHistory(raw: Uint8Array, { globalSettings }: proto.IHistorySync): void {
    const salt = saltOfHistory(raw);
    if (salt) this.#options.facts.setContactTokenSaltOfHistory(salt);
    this.#latchAt(globalSettings?.chatDbLidMigrationTimestamp);
    this.#onDefaultTimer(globalSettings ?? {});
  }

  /** Baileys learns only later changes of the default for new chats. */
  #onDefaultTimer({ disappearingModeDuration, disappearingModeTimestamp }: proto.IGlobalSettings): void {
    const { ev, authState } = this.#options.sock;
    const { accountSettings } = authState.creds;
    if (!disappearingModeDuration || accountSettings.defaultDisappearingMode) return;
    const defaultDisappearingMode = {
      ephemeralExpiration: disappearingModeDuration,
      ephemeralSettingTimestamp: toNumber(disappearingModeTimestamp),
    };
    ev.emit("creds.update", { accountSettings: { ...accountSettings, defaultDisappearingMode } });
  }

  #latchAt(migratedAt: Parameters<typeof toNumber>[0]): void {
    if (toNumber(migratedAt) > 0) this.#options.facts.latchLidMigrated();
  }

  #onProperties(node: BinaryNode): void {
    const properties = getBinaryNodeChildren(getBinaryNodeChild(node, "props"), "prop");
    for (const { attrs } of properties) {
      const isOn = ENABLED.includes(attrs.config_value ?? "");
      if (attrs.config_code === LID_MIGRATED && isOn) this.#options.facts.latchLidMigrated();
      if (attrs.config_code === EDITS_ENCRYPTED) this.#options.facts.setEditsEncrypted(isOn);
    }
  }

  async #onSettings(node: BinaryNode): Promise<void> {
    const { facts, keyStore } = this.#options;
    const findKey = async (id: string) =>
      (await keyStore.get("app-state-sync-key", [id]))[id]?.keyData ?? undefined;
    const change = await readSaltSetting(node, findKey, (file) => this.#download(file));
    if (change) facts.setContactTokenSaltOfSettings(change.salt);
  }

  /** Settings that are too many for a stanza. */
  async #download(file: proto.IExternalBlobReference): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const ref = toMediaRef({ ...file, fileLength: file.fileSizeBytes }, "md-app-state");
    await this.#options.downloadMedia(ref, (chunk) => {
      size += chunk.length;
      if (size > MOST_SETTINGS_BYTES) throw new Error("The settings of the account are too long.");
      chunks.push(chunk);
    });
    return Buffer.concat(chunks);
  }
}
