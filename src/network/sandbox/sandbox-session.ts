import type { Pool } from "pg";
import type {
  Content,
  Jid,
  MessageId,
  MessageRef,
  OpenSessionOptions,
  Presence,
  SendResult,
  Session,
} from "../driver.ts";
import type {
  ChatOperations,
  ContactOperations,
  GroupOperations,
  OperationResult,
  ProfileOperations,
} from "../session-operations.ts";
import { SessionSupervisor } from "../session-supervisor.ts";
import {
  createOperationRunner,
  type NetworkAction,
  type RunOperation,
  rejected,
  succeeded,
} from "./connection/network-action.ts";
import type { SandboxConnection } from "./connection/sandbox-connection.ts";
import type { SandboxRuntime } from "./connection/sandbox-runtime.ts";
import { toGroup } from "./inbox/group-event.ts";
import { chatOperations } from "./operations/chat-operations.ts";
import { contactOperations, type PictureUrl } from "./operations/contact-operations.ts";
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
import { identityOf, phoneOf } from "./sandbox-numbers.ts";
import {
  changeGroup,
  changeParticipants,
  createGroup,
  joinGroup,
  leaveGroup,
  toStoredGroup,
  validateGroupChange,
} from "./world/change-group.ts";
import { findGroupsOf, isRejected, requireMembership } from "./world/group-store.ts";
import { loadMedia, storeMedia } from "./world/media-store.ts";
import { findProfile, saveProfile } from "./world/person-store.ts";
import { replacePicture } from "./world/picture-store.ts";

const MAX_NAME = 25;

const MAX_ABOUT = 139;

/** The privacy settings of a phone that has changed none. */
const PRIVACY = {
  readreceipts: "all",
  profile: "all",
  status: "all",
  online: "all",
  last: "all",
  groupadd: "all",
};

interface SandboxActionOptions {
  id: MessageId;
}

/** A session of the sandbox network; each connect() after an end starts a new connection loop. */
export class SandboxSession implements Session {
  readonly contacts: ContactOperations;
  readonly chats: ChatOperations;
  readonly profile: ProfileOperations;
  readonly groups: GroupOperations;
  readonly #runtime: SandboxRuntime;
  readonly #options: OpenSessionOptions;
  readonly #network: SandboxNetwork<Pool>;
  readonly #run: RunOperation;
  readonly #connectionLoops: SessionSupervisor<SandboxConnectionLoop>;

  constructor(runtime: SandboxRuntime, options: OpenSessionOptions, pictureUrl: PictureUrl) {
    this.#runtime = runtime;
    this.#options = options;
    this.#network = { client: runtime.pool, account_id: options.account_id };
    this.#connectionLoops = new SessionSupervisor(
      options,
      (pairingPhone, after) => new SandboxConnectionLoop(runtime, options, pairingPhone, after),
    );
    this.#run = createOperationRunner(this.#network, () => this.#connection);
    this.contacts = contactOperations(this.#run, pictureUrl);
    this.chats = chatOperations(this.#run);
    this.profile = profileOperations(this.#run, pictureUrl);
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

  async markRead(chat: Jid, targets: MessageRef[]): Promise<SendResult> {
    const connection = this.#connection;
    if (!connection) return NOT_CONNECTED;
    const { me, session } = connection;
    const messages = targets.map(({ id, sender }) => ({ id, writer: phoneOf(sender ?? chat) }));
    try {
      const reading = { device: me.device, session, me: me.phone, chat, messages };
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

function groupOperations(run: RunOperation): GroupOperations {
  return {
    list: () =>
      run({ action: "groups" }, async (acting) => {
        const groups = await findGroupsOf(acting, acting.actor.phone);
        return succeeded(groups.map((group) => toGroup(toStoredGroup(group))));
      }),

    get: (jid) =>
      run({ action: "group", chat: jid }, async (acting) => {
        const group = await requireMembership(acting, jid);
        return isRejected(group) ? group : succeeded(toGroup(toStoredGroup(group)));
      }),

    create: (subject, participants) =>
      run({ action: "group_create" }, async (acting) => {
        const problem = validateGroupChange({ subject });
        if (problem) return rejected("VALIDATION_ERROR", problem);
        const { group, results } = await createGroup(acting, subject, participants);
        return succeeded({ group: toGroup(group), results });
      }),

    updateParticipants: (jid, action, participants) =>
      run({ action: `group_${action}`, chat: jid }, (acting) =>
        changeParticipants(acting, jid, action, participants),
      ),

    update: (jid, change) =>
      run({ action: "group_update", chat: jid }, (acting) => changeGroup(acting, jid, change)),

    invite: (jid) =>
      run({ action: "group_invite", chat: jid }, async (acting) => {
        const group = await requireMembership(acting, jid, { asAdmin: true });
        return isRejected(group) ? group : succeeded(group.invite);
      }),

    join: (invite) => run({ action: "group_join" }, (acting) => joinGroup(acting, invite)),

    leave: (jid) => run({ action: "group_leave", chat: jid }, (acting) => leaveGroup(acting, jid)),
  };
}

function profileOperations(run: RunOperation, pictureUrl: PictureUrl): ProfileOperations {
  return {
    get: () =>
      run({ action: "profile" }, async (acting) => {
        const { actor } = acting;
        const { about, picture, business } = await findProfile(acting, actor.phone);
        return succeeded({
          ...identityOf(actor),
          about,
          picture_url: pictureUrl(picture),
          is_business: business !== null,
          business,
          privacy: PRIVACY,
        });
      }),

    setName: (name) =>
      run({ action: "set_name" }, async (acting) => {
        if (name === "" || name.length > MAX_NAME) {
          return rejected("VALIDATION_ERROR", `The name must have 1 to ${MAX_NAME} characters.`);
        }
        await rename(acting, name);
        return succeeded(null);
      }),

    setAbout: (about) =>
      run({ action: "set_about" }, async (acting) => {
        if (about.length > MAX_ABOUT) {
          return rejected("VALIDATION_ERROR", `The text may have ${MAX_ABOUT} characters.`);
        }
        await saveProfile(acting, acting.actor.phone, { about: about || null });
        return succeeded(null);
      }),

    setPicture: (image) =>
      run({ action: "set_picture" }, async (acting) => {
        const { client, actor } = acting;
        const { picture } = await findProfile(acting, actor.phone);
        await saveProfile(acting, actor.phone, { picture: await replacePicture(client, picture, image) });
        return succeeded(null);
      }),
  };
}

/** Chats that receive a message after this see the new name. */
async function rename(acting: NetworkAction, name: string): Promise<void> {
  const { client, account_id, actor } = acting;
  await saveProfile(acting, actor.phone, { name });
  await client.query(
    `update sandbox.device set push_name = $3
     where phone = $2 and account_id = $1 and linked_at is not null and unlinked_at is null`,
    [account_id, actor.phone, name],
  );
  actor.push_name = name;
}
