import type {
  Content,
  EditOptions,
  Jid,
  MessageId,
  MessageRef,
  NetworkEvent,
  OpenSessionOptions,
  Presence,
  ReadOptions,
  SendResult,
  Session,
} from "../driver.ts";
import { forwardOperations } from "../operation-groups.ts";
import { PresenceSubscriptions } from "../presence/presence-subscriptions.ts";
import { resultWithin } from "../result-within.ts";
import type { OperationResult, PresenceOperations, StatusOperations } from "../session-operations.ts";
import { SessionSupervisor } from "../session-supervisor.ts";
import { toOperationResult } from "../to-operation-result.ts";
import type { WhatsAppConnection } from "./connection/whatsapp-connection.ts";
import type { WhatsAppRuntime } from "./connection/whatsapp-runtime.ts";
import type { OnChunk } from "./files/download-media.ts";
import type { BaileysModule } from "./load-baileys.ts";
import type { Outbox } from "./outbound/outbox.ts";
import { WhatsAppConnectionLoop } from "./whatsapp-connection-loop.ts";

const NOT_CONNECTED: SendResult = {
  outcome: "not_sent",
  reason: "The session is not connected.",
  is_offline: true,
};

/** The same for an operation. */
const NOT_DONE: OperationResult<never> = { outcome: "failed", reason: "The session is not connected." };

const NO_CEREMONY: OperationResult<never> = {
  outcome: "refused",
  code: "CONFLICT",
  reason: "WhatsApp requests no passkey now. Connect the instance and scan its QR code first.",
};

interface SendActionOptions {
  id: MessageId;
}

/** A session of an account; each connect() after an end starts a new connection loop. */
export class WhatsAppSession implements Session {
  readonly #runtime: WhatsAppRuntime;
  readonly #loadBaileys: () => Promise<BaileysModule>;
  readonly #options: OpenSessionOptions;
  readonly contacts = this.#forward("contacts");
  readonly chats = this.#forward("chats");
  readonly labels = this.#forward("labels");
  readonly statuses: StatusOperations = {
    send: async (content, audience, id) =>
      toOperationResult(await this.#out((outbox) => outbox.sendStatus(content, audience, id))),
  };
  readonly profile = this.#forward("profile");
  readonly business = this.#forward("business");
  readonly groups = this.#forward("groups");
  readonly #presences: PresenceSubscriptions;
  readonly passkey = forwardOperations(
    "passkey",
    () => this.#connectionLoops.current?.passkeyCeremony,
    NO_CEREMONY,
  );
  readonly #connectionLoops: SessionSupervisor<WhatsAppConnectionLoop>;

  constructor(
    runtime: WhatsAppRuntime,
    loadBaileys: () => Promise<BaileysModule>,
    options: OpenSessionOptions,
  ) {
    this.#runtime = runtime;
    this.#loadBaileys = loadBaileys;
    this.#presences = new PresenceSubscriptions({
      report: options.report,
      request: async (chat) => this.#connection?.operations.requestPresence(chat) ?? NOT_DONE,
    });
    this.#options = { ...options, report: this.#presences.report };
    this.#connectionLoops = new SessionSupervisor(
      this.#options,
      (pairingPhone, previousEnded) =>
        new WhatsAppConnectionLoop({ ...this.#options, runtime, loadBaileys, pairingPhone, previousEnded }),
    );
  }

  get presence(): PresenceOperations {
    return this.#presences.operations;
  }

  connect({ pairingPhone }: { pairingPhone?: string } = {}): void {
    this.#connectionLoops.connect(pairingPhone);
  }

  disconnect(): Promise<void> {
    return this.#connectionLoops.disconnect();
  }

  logout(): Promise<void> {
    return this.#connectionLoops.logout(async (loop) => {
      await this.#unlink(loop);
      await loop?.stop();
    });
  }

  send(to: Jid, content: Content, { id }: SendActionOptions): Promise<SendResult> {
    if (content.kind === "media" && !content.bytes && !content.ref) {
      throw new Error("A media message needs its bytes.");
    }
    return this.#out((outbox) => outbox.send(to, content, id));
  }

  edit(target: MessageRef, text: string, options: EditOptions): Promise<SendResult> {
    return this.#out((outbox) => outbox.edit(target, text, options));
  }

  deleteForEveryone(target: MessageRef, { id }: SendActionOptions): Promise<SendResult> {
    return this.#out((outbox) => outbox.delete(target, id));
  }

  react(target: MessageRef, reaction: string, { id }: SendActionOptions): Promise<SendResult> {
    return this.#out((outbox) => outbox.react(target, reaction, id));
  }

  pin(target: MessageRef, seconds: number, { id }: SendActionOptions): Promise<SendResult> {
    return this.#out((outbox) => outbox.pin(target, seconds, id));
  }

  deleteForMe(target: MessageRef & { at: Date }): Promise<SendResult> {
    return this.#out((outbox) => outbox.set(target, { deletes_sent_at: target.at }));
  }

  star(target: MessageRef, starred: boolean): Promise<SendResult> {
    return this.#out((outbox) => outbox.set(target, { starred }));
  }

  markRead(chat: Jid, targets: MessageRef[], options?: ReadOptions): Promise<SendResult> {
    return this.#out((outbox) => outbox.markRead(chat, targets, options));
  }

  setPresence(presence: Presence, to?: Jid): Promise<SendResult> {
    return this.#out((outbox) => outbox.setPresence(presence, to));
  }

  async rejectCall(call_id: string, from: Jid): Promise<OperationResult<null>> {
    return this.#connection?.operations.rejectCall(call_id, from) ?? NOT_DONE;
  }

  async downloadMedia(ref: unknown, onChunk: OnChunk): Promise<"done" | "gone"> {
    const connection = this.#connection;
    if (!connection) throw new Error("The session is not connected.");
    return connection.downloadMedia(ref, onChunk);
  }

  get #connection(): WhatsAppConnection | undefined {
    return this.#connectionLoops.current?.connection;
  }

  /** The operations of a group, on the connection that is open at that moment. */
  #forward<Group extends "contacts" | "chats" | "labels" | "profile" | "business" | "groups">(group: Group) {
    return forwardOperations(group, () => this.#connection?.operations[group], NOT_DONE);
  }

  async #out(act: (outbox: Outbox) => Promise<SendResult>): Promise<SendResult> {
    const connection = this.#connection;
    return connection ? act(connection.outbox) : NOT_CONNECTED;
  }

  /** Without an open connection, connects to unlink, if that takes no longer than a logout may. */
  async #unlink(loop: WhatsAppConnectionLoop | undefined): Promise<void> {
    if (loop?.connection) return loop.connection.unlink();
    if (!(await this.#options.credentials.load())) return;
    await loop?.stop();
    const last = new WhatsAppConnectionLoop({
      ...this.#options,
      report: (event) => (isMessage(event) ? this.#options.report(event) : Promise.resolve()),
      runtime: this.#runtime,
      loadBaileys: this.#loadBaileys,
      pairingPhone: undefined,
      previousEnded: Promise.resolve(),
    });
    const connection = await resultWithin(last.online, this.#runtime.timing.logoutMs);
    await connection?.unlink();
    await last.stop();
  }
}

function isMessage({ type }: NetworkEvent): boolean {
  return type.startsWith("message");
}
