import type { Pool } from "pg";
import type { CallResult, ChatCalls, ContactCalls, GroupCalls, ProfileCalls } from "../calls.ts";
import type {
  Content,
  Jid,
  MessageId,
  MessageRef,
  OpenOptions,
  Presence,
  SendResult,
  Session,
} from "../driver.ts";
import { Lives } from "../lives.ts";
import type { AccountNetwork } from "./account-network.ts";
import { type Ask, createAsk, done } from "./acting.ts";
import {
  type Arrival,
  deleteArrival,
  editArrival,
  presenceArrival,
  reactArrival,
  sendArrival,
  type Way,
} from "./arrival.ts";
import { chatCalls } from "./chats.ts";
import type { Connection } from "./connection.ts";
import { contactCalls, type PictureUrl } from "./contact-calls.ts";
import { groupCalls } from "./group-calls.ts";
import type { Hub } from "./hub.ts";
import { Life } from "./life.ts";
import { unlinkDevice } from "./login.ts";
import { loadMedia, storeMedia } from "./media.ts";
import { phoneOf } from "./numbers.ts";
import { tokenOf } from "./pairing.ts";
import { profileCalls } from "./profile-calls.ts";
import { recordReading } from "./record-arrivals.ts";
import { failureOf, NOT_CONNECTED } from "./results.ts";

interface ActOptions {
  id: MessageId;
}

/** A session of the sandbox network; each connect() after an end is a new life. */
export class SandboxSession implements Session {
  readonly contacts: ContactCalls;
  readonly chats: ChatCalls;
  readonly profile: ProfileCalls;
  readonly groups: GroupCalls;
  readonly #hub: Hub;
  readonly #options: OpenOptions;
  readonly #network: AccountNetwork<Pool>;
  readonly #ask: Ask;
  readonly #lives: Lives<Life>;

  constructor(hub: Hub, options: OpenOptions, pictureUrl: PictureUrl) {
    this.#hub = hub;
    this.#options = options;
    this.#network = { client: hub.pool, account_id: options.account_id };
    this.#lives = new Lives(options, (pairingPhone, after) => new Life(hub, options, pairingPhone, after));
    this.#ask = createAsk(this.#network, () => this.#connection);
    this.contacts = contactCalls(this.#ask, pictureUrl);
    this.chats = chatCalls(this.#ask);
    this.profile = profileCalls(this.#ask, pictureUrl);
    this.groups = groupCalls(this.#ask);
  }

  connect({ pairingPhone }: { pairingPhone?: string } = {}): void {
    this.#lives.connect(pairingPhone);
  }

  disconnect(): Promise<void> {
    return this.#lives.disconnect();
  }

  logout(): Promise<void> {
    return this.#lives.logout(async (life) => {
      await life?.stop();
      const credentials = await this.#options.credentials.load();
      if (credentials) await unlinkDevice(this.#hub.pool, tokenOf(credentials));
    });
  }

  async send(to: Jid, content: Content, { id }: ActOptions): Promise<SendResult> {
    const connection = this.#connection;
    if (!connection) return NOT_CONNECTED;
    if (content.kind === "media" && !content.bytes && !content.ref) {
      throw new Error("A media message needs its bytes.");
    }
    try {
      const kept = await storeMedia(this.#network, `${connection.me.phone}/${id}`, content);
      const result = await connection.act(sendArrival(this.#way(connection, to), kept, id));
      const isFile = result.outcome === "accepted" && kept.kind === "media";
      return isFile ? { ...result, media_ref: kept.ref } : result;
    } catch (error) {
      // Before the statement that sends it only the network's database can fail.
      return { outcome: "not_sent", reason: String(error), is_offline: true };
    }
  }

  edit(target: MessageRef, text: string, { id }: ActOptions): Promise<SendResult> {
    return this.#act(target.chat, (way) => editArrival(way, target, text, id));
  }

  deleteForEveryone(target: MessageRef, { id }: ActOptions): Promise<SendResult> {
    return this.#act(target.chat, (way) => deleteArrival(way, target, id));
  }

  react(target: MessageRef, reaction: string, { id }: ActOptions): Promise<SendResult> {
    return this.#act(target.chat, (way) => reactArrival(way, target, reaction, id));
  }

  async markRead(chat: Jid, targets: MessageRef[]): Promise<SendResult> {
    const connection = this.#connection;
    if (!connection) return NOT_CONNECTED;
    const { me, session } = connection;
    const messages = targets.map(({ id, sender }) => ({ id, writer: phoneOf(sender ?? chat) }));
    try {
      const reading = { device: me.device, session, me: me.phone, chat, messages };
      const { isOpen, told } = await recordReading(this.#hub.pool, reading);
      for (const device of told) this.#hub.wakes.device(device);
      return isOpen ? { outcome: "accepted", at: new Date() } : NOT_CONNECTED;
    } catch (error) {
      return failureOf(error);
    }
  }

  async setPresence(presence: Presence, to?: Jid): Promise<SendResult> {
    const connection = this.#connection;
    if (!connection) return NOT_CONNECTED;
    const { me, session } = connection;
    return connection.act(presenceArrival({ me, session, timing: this.#hub.timing }, presence, to));
  }

  downloadMedia(
    ref: unknown,
    onChunk: (chunk: Uint8Array) => Promise<void> | void,
  ): Promise<"done" | "gone"> {
    return loadMedia(this.#network, ref, onChunk);
  }

  rejectCall(call_id: string, from: Jid): Promise<CallResult<null>> {
    return this.#ask({ action: "reject_call", chat: from, target_id: call_id }, async () => done(null));
  }

  get #connection(): Connection | undefined {
    return this.#lives.current?.connection;
  }

  async #act(to: Jid, arrival: (way: Way) => Arrival): Promise<SendResult> {
    const connection = this.#connection;
    return connection ? connection.act(arrival(this.#way(connection, to))) : NOT_CONNECTED;
  }

  #way({ me, session }: Connection, to: Jid): Way {
    return { me, session, to, timing: this.#hub.timing };
  }
}
