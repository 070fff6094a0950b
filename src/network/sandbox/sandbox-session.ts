import type { Pool } from "pg";
import type {
  Content,
  Jid,
  MessageId,
  MessageRef,
  OpenSessionOptions,
  Presence,
  ReadOptions,
  SendResult,
  Session,
} from "../driver.ts";
import { PresenceSubscriptions } from "../presence/presence-subscriptions.ts";
import type {
  BusinessOperations,
  ChatOperations,
  ContactOperations,
  GroupOperations,
  LabelOperations,
  OperationResult,
  PresenceOperations,
  ProfileOperations,
  StatusOperations,
} from "../session-operations.ts";
import { SessionSupervisor } from "../session-supervisor.ts";
import { createOperationRunner, type RunOperation, succeeded } from "./connection/network-action.ts";
import type { SandboxConnection } from "./connection/sandbox-connection.ts";
import type { SandboxRuntime } from "./connection/sandbox-runtime.ts";
import { businessOperations } from "./operations/business-operations.ts";
import { chatOperations } from "./operations/chat-operations.ts";
import { contactOperations, type PictureUrl } from "./operations/contact-operations.ts";
import { groupOperations } from "./operations/group-operations.ts";
import { labelOperations } from "./operations/label-operations.ts";
import { profileOperations } from "./operations/profile-operations.ts";
import { requestPresence } from "./operations/request-presence.ts";
import { statusOperations } from "./operations/status-operations.ts";
import { unlinkDevice } from "./pairing/log-in.ts";
import { tokenOf } from "./pairing/pair-device.ts";
import { recordReadReceipt } from "./requests/record-requests.ts";
import {
  deleteForMeRequest,
  deleteRequest,
  editRequest,
  pinRequest,
  presenceRequest,
  type RequestContext,
  reactRequest,
  type SandboxRequest,
  sendRequest,
  starRequest,
} from "./requests/sandbox-request.ts";
import { failedResult, NOT_CONNECTED } from "./requests/send-results.ts";
import { SandboxConnectionLoop } from "./sandbox-connection-loop.ts";
import type { SandboxNetwork } from "./sandbox-network.ts";
import { phoneOf } from "./sandbox-numbers.ts";
import { loadMedia, storeMedia } from "./world/media-store.ts";

interface SandboxActionOptions {
  id: MessageId;
}

/** A session of the sandbox network; each connect() after an end starts a new connection loop. */
export class SandboxSession implements Session {
  readonly contacts: ContactOperations;
  readonly chats: ChatOperations;
  readonly labels: LabelOperations;
  readonly statuses: StatusOperations;
  readonly profile: ProfileOperations;
  readonly business: BusinessOperations;
  readonly groups: GroupOperations;
  readonly presence: PresenceOperations;
  readonly #runtime: SandboxRuntime;
  readonly #options: OpenSessionOptions;
  readonly #network: SandboxNetwork<Pool>;
  readonly #run: RunOperation;
  readonly #connectionLoops: SessionSupervisor<SandboxConnectionLoop>;

  constructor(runtime: SandboxRuntime, options: OpenSessionOptions, pictureUrl: PictureUrl) {
    this.#runtime = runtime;
    const presences = new PresenceSubscriptions({
      report: options.report,
      request: (chat) => requestPresence(this.#run, chat),
    });
    this.#options = { ...options, report: presences.report };
    this.presence = presences.operations;
    this.#network = { client: runtime.pool, account_id: options.account_id };
    this.#connectionLoops = new SessionSupervisor(
      this.#options,
      (pairingPhone, after) => new SandboxConnectionLoop(runtime, this.#options, pairingPhone, after),
    );
    this.#run = createOperationRunner(this.#network, () => this.#connection);
    this.contacts = contactOperations(this.#run, pictureUrl);
    this.chats = chatOperations(this.#run);
    this.labels = labelOperations(this.#run);
    this.statuses = statusOperations(this.#run, runtime.timing);
    this.profile = profileOperations(this.#run, pictureUrl);
    this.business = businessOperations(this.#run);
    this.groups = groupOperations(this.#run);
  }

  connect({ pairingPhone }: { pairingPhone?: string } = {}): void {
    this.#connectionLoops.connect(pairingPhone);
  }

  disconnect(): Promise<void> {
    return this.#connectionLoops.disconnect();
  }

  logout(): Promise<void> {
    return this.#connectionLoops.logout(async (loop) => {
      await loop?.stop();
      const credentials = await this.#options.credentials.load();
      if (credentials) await unlinkDevice(this.#runtime.pool, tokenOf(credentials));
    });
  }

  async send(to: Jid, content: Content, { id }: SandboxActionOptions): Promise<SendResult> {
    const connection = this.#connection;
    if (!connection) return NOT_CONNECTED;
    if (content.kind === "media" && !content.bytes && !content.ref) {
      throw new Error("A media message needs its bytes.");
    }
    try {
      const stored = await storeMedia(this.#network, `${connection.me.phone}/${id}`, content);
      const result = await connection.request(sendRequest(this.#requestContext(connection, to), stored, id));
      const isFile = result.outcome === "accepted" && stored.kind === "media";
      return isFile ? { ...result, media_ref: stored.ref } : result;
    } catch (error) {
      // Before the statement that sends the message, only the network's database can fail.
      return { outcome: "not_sent", reason: String(error), is_offline: true };
    }
  }

  edit(target: MessageRef, text: string, { id }: SandboxActionOptions): Promise<SendResult> {
    return this.#act(target.chat, (transport) => editRequest(transport, target, text, id));
  }

  deleteForEveryone(target: MessageRef, { id }: SandboxActionOptions): Promise<SendResult> {
    return this.#act(target.chat, (transport) => deleteRequest(transport, target, id));
  }

  react(target: MessageRef, reaction: string, { id }: SandboxActionOptions): Promise<SendResult> {
    return this.#act(target.chat, (transport) => reactRequest(transport, target, reaction, id));
  }

  pin(target: MessageRef, seconds: number, { id }: SandboxActionOptions): Promise<SendResult> {
    return this.#act(target.chat, (transport) => pinRequest(transport, target, seconds, id));
  }

  deleteForMe(target: MessageRef, { id }: SandboxActionOptions): Promise<SendResult> {
    return this.#act(target.chat, (transport) => deleteForMeRequest(transport, target, id));
  }

  star(target: MessageRef, starred: boolean, { id }: SandboxActionOptions): Promise<SendResult> {
    return this.#act(target.chat, (transport) => starRequest(transport, target, starred, id));
  }

  async markRead(chat: Jid, targets: MessageRef[], { played }: ReadOptions = {}): Promise<SendResult> {
    const connection = this.#connection;
    if (!connection) return NOT_CONNECTED;
    const { me, session } = connection;
    const messages = targets.map(({ id, sender }) => ({ id, writer: phoneOf(sender ?? chat) }));
    try {
      const status = played ? "played" : "read";
      const reading = { device: me.device, session, me: me.phone, chat, messages, status } as const;
      const { isOpen, notified } = await recordReadReceipt(this.#runtime.pool, reading);
      for (const device of notified) this.#runtime.wakeups.device(device);
      return isOpen ? { outcome: "accepted", at: new Date() } : NOT_CONNECTED;
    } catch (error) {
      return failedResult(error);
    }
  }

  async setPresence(presence: Presence, to?: Jid): Promise<SendResult> {
    const connection = this.#connection;
    if (!connection) return NOT_CONNECTED;
    const { me, session } = connection;
    return connection.request(presenceRequest({ me, session, timing: this.#runtime.timing }, presence, to));
  }

  downloadMedia(
    ref: unknown,
    onChunk: (chunk: Uint8Array) => Promise<void> | void,
  ): Promise<"done" | "gone"> {
    return loadMedia(this.#network, ref, onChunk);
  }

  rejectCall(call_id: string, from: Jid): Promise<OperationResult<null>> {
    return this.#run({ action: "reject_call", chat: from, target_id: call_id }, async () => succeeded(null));
  }

  get #connection(): SandboxConnection | undefined {
    return this.#connectionLoops.current?.connection;
  }

  async #act(to: Jid, toRequest: (transport: RequestContext) => SandboxRequest): Promise<SendResult> {
    const connection = this.#connection;
    return connection ? connection.request(toRequest(this.#requestContext(connection, to))) : NOT_CONNECTED;
  }

  #requestContext({ me, session }: SandboxConnection, to: Jid): RequestContext {
    return { me, session, to, timing: this.#runtime.timing };
  }
}
