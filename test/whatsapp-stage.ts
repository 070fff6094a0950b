import { readFileSync } from "node:fs";
import tls from "node:tls";
import { expect } from "vitest";
import type {
  Content,
  CredentialStore,
  InboundContent,
  MediaType,
  MessageId,
  OpenSessionOptions,
  StoredJournalEntry,
} from "../src/network/driver.ts";
import { phoneJid } from "../src/network/jid.ts";
import { createWhatsAppDriver, type WhatsAppDriverOptions } from "../src/network/whatsapp/whatsapp-driver.ts";
import type { WhatsAppTiming } from "../src/network/whatsapp/whatsapp-timing.ts";
import { RecordingSession } from "./conformance/listener.ts";
import type {
  ContactControls,
  ContactObservation,
  OperationStage,
  PhoneControls,
} from "./conformance/stage.ts";
import { networkControlsOf } from "./network-controls.ts";
import { STATUS_BROADCAST } from "./whatsapp-server/companion.ts";
import type { SentContent, WhatsAppControl } from "./whatsapp-server/control.ts";
import { startWhatsAppServer, type WhatsAppServer } from "./whatsapp-server/server.ts";

/** Short waits for tests. */
export const QUICK: Partial<WhatsAppTiming> = {
  // A slow machine is no dead network. Tests of the timeout set it.
  connectMs: 30_000,
  flushMs: 20,
  backoffMs: 20,
  backoffMaxMs: 200,
  retryMs: 50,
  finishMs: 2_000,
  closeMs: 2_000,
  openJitterMs: 0,
  openGatherMs: 0,
  startBackoffMs: 20,
};

export interface WhatsAppStage extends OperationStage {
  server: WhatsAppServer;
  control: WhatsAppControl;
  /** A session of its own driver, which ends with the stage. */
  open(options?: WhatsAppStageOptions, session?: Partial<OpenSessionOptions>): RecordingSession;
  /** Like kill -9 for a session of `open`: it reports and stores nothing more. */
  abandon(listener: RecordingSession): void;
}

export interface WhatsAppStageOptions
  extends Pick<
    WhatsAppDriverOptions,
    "timing" | "socket" | "log" | "versions" | "loadBaileys" | "egress" | "onUnknownStanza"
  > {
  shortQr?: boolean;
}

/** The driver on its own network with a phone and a contact. */
export async function startWhatsAppStage(options: WhatsAppStageOptions = {}): Promise<WhatsAppStage> {
  const server = await startWhatsAppServer();
  const { control } = server;
  const phone = await control.addPerson({ name: "Shop" });
  const contact = await control.addPerson({ name: "Ana" });
  const driver = createDriver(server, options);
  const opened: RecordingSession[] = [];
  const drivers = new Map<RecordingSession, ReturnType<typeof createDriver>>();
  return {
    driver,
    server,
    control,
    credentials: storeInMemory,
    phone: phoneOn(control, phone.phone, contact.phone),
    contact: contactOn(control, contact.phone, phone.phone),
    world: networkControlsOf(control, phone.phone, contact.phone),
    unregisteredJid: phoneJid("5511900000000"),
    countDeliveries: (id) => control.arrivals(id),
    expireFiles: () => control.expireMedia({ phones: true }),
    open(own = {}, { credentials = storeInMemory(), ...session } = {}) {
      const its = createDriver(server, own);
      const listener = new RecordingSession(its, credentials, session);
      drivers.set(listener, its);
      opened.push(listener);
      return listener;
    },
    abandon: (listener) => drivers.get(listener)?.terminate(),
    async stop() {
      await Promise.all(opened.map(({ session }) => session.disconnect()));
      driver.terminate();
      const unhandled = await control.unhandled();
      const { arrivals } = await control.ledger();
      await server.close();
      expect(unhandled).toEqual([]);
      expect(arrivals.filter((one) => one.has_reporting)).toEqual([]);
    },
  };
}

export function createDriver(
  server: WhatsAppServer,
  { shortQr, timing, egress, ...others }: WhatsAppStageOptions,
) {
  trustAuthority(server.caFile);
  return createWhatsAppDriver({
    url: server.url,
    rootKey: server.rootKeyHex,
    timing: { ...QUICK, ...(shortQr && { firstQrMs: 60, laterQrMs: 60, scanMs: 10 }), ...timing },
    ...others,
    ...(egress && { egress }),
  });
}

let authority: string | undefined;

/** Trusts the test server's authority for files. The process trusts the last one. */
export function trustAuthority(caFile: string): void {
  if (authority === undefined) {
    const create = tls.createSecureContext;
    tls.createSecureContext = (options) => {
      const made = create(options);
      (made.context as { addCACert(pem: string | undefined): void }).addCACert(authority);
      return made;
    };
  }
  authority = readFileSync(caFile, "utf8");
}

function phoneOn(control: WhatsAppControl, number: string, contact: string): PhoneControls {
  return {
    number,
    // The test checks whether the gateway accepted it.
    scan: async (qr) => void (await control.scan(number, qr).catch(() => undefined)),
    enterCode: async (code) => void (await control.enterCode(number, code)),
    drop: () => control.end(number, 428),
    ban: () => control.ban(number),
    unlink: () => control.unlink(number),
    star: (id, starred) => control.star(number, contact, id, starred),
  };
}

function contactOn(control: WhatsAppControl, number: string, phone: string): ContactControls {
  let group: Promise<string> | undefined;
  const groupOf = () => {
    group ??= control.addGroup("Team", [number, phone]).then(({ jid }) => jid);
    return group;
  };
  return {
    jid: phoneJid(number),
    number,
    async sendMessage(content, { group: isGroup } = {}) {
      return (await control.sendMessage(
        number,
        isGroup ? await groupOf() : phone,
        toSaid(content),
      )) as MessageId;
    },
    editMessage: async (id, text) => void (await control.edit(number, phone, id, text)),
    deleteMessage: async (id) => void (await control.delete(number, phone, id)),
    reactTo: async (id, reaction) => void (await control.react(number, phone, id, reaction)),
    pin: async (id, seconds) => void (await control.pin(number, phone, id, seconds)),
    markRead: (id) => control.read(number, [id]),
    postStory: async (text) => (await control.postStatus(number, phone, text)) as MessageId,
    viewStory: (id) => control.read(number, [id]),
    async stories() {
      const seen = (await control.seen(number)).filter(isStory);
      return seen.flatMap((one) =>
        one.type === "message" ? [{ id: one.id as MessageId, content: one.content as InboundContent }] : [],
      );
    },
    startPhoneCall: async () => void (await control.call(number, phone)),
    observed: async () => (await control.seen(number)).filter((one) => !isStory(one)).flatMap(toSeen),
    file: (id) => control.file(number, id),
  };
}

type Seen = Awaited<ReturnType<WhatsAppControl["seen"]>>[number];

function isStory(seen: Seen): boolean {
  return "chat" in seen && seen.chat === STATUS_BROADCAST;
}

function toSaid(content: Content): SentContent {
  return content as unknown as SentContent;
}

function toSeen(seen: Seen): ContactObservation[] {
  switch (seen.type) {
    case "message":
      return [{ type: "message", id: seen.id as MessageId, content: seen.content as unknown as Content }];
    case "edited":
      return [seenEdit(seen)];
    case "deleted":
      return [{ type: "deleted", id: seen.id as MessageId }];
    case "reaction":
      return [{ type: "reaction", id: seen.id as MessageId, reaction: seen.reaction }];
    case "pinned":
      return [{ type: "pinned", id: seen.id as MessageId, seconds: seen.seconds }];
    case "read":
    case "played":
      return [{ type: seen.type, ids: seen.ids as MessageId[] }];
    default:
      return [];
  }
}

function seenEdit({
  id,
  text,
  media_type,
}: {
  id: string;
  text: string;
  media_type?: MediaType;
}): ContactObservation {
  return { type: "edited", id: id as MessageId, text, ...(media_type && { media_type }) };
}

export interface MemoryCredentials extends CredentialStore {
  readonly keys: NonNullable<CredentialStore["keys"]>;
  /** Waits before every commit, and may reject it. */
  beforeCommit: () => Promise<void>;
  /** Waits before every read. */
  beforeRead: () => Promise<void>;
  /** Waits before a registration is stored, and may reject it. */
  beforeRegistration: () => Promise<void>;
  readonly texts: Map<string, string>;
  readonly entries: Map<string, StoredJournalEntry>;
}

/** Credentials in memory. */
export function storeInMemory(): MemoryCredentials {
  let kept: Uint8Array | undefined;
  let registration: Uint8Array | undefined;
  const texts = new Map<string, string>();
  const entries = new Map<string, StoredJournalEntry>();
  const store: MemoryCredentials = {
    texts,
    entries,
    beforeCommit: async () => {},
    beforeRead: async () => {},
    beforeRegistration: async () => {},
    load: async () => kept,
    async save(credentials) {
      if (!kept) for (const map of [texts, entries]) map.clear();
      kept = credentials;
      registration = undefined;
    },
    async erase() {
      kept = undefined;
      registration = undefined;
    },
    loadRegistration: async () => registration,
    async saveRegistration(bytes) {
      await store.beforeRegistration();
      if (kept) throw new Error("There is a pairing.");
      registration = bytes;
    },
    keys: {
      async read(kind, ids) {
        await store.beforeRead();
        const found = ids.flatMap((id) => {
          const text = texts.get(`${kind} ${id}`);
          return text === undefined ? [] : [[id, text] as const];
        });
        return new Map(found);
      },
      readJournal: async (ids) =>
        [...entries.values()].filter(({ id }) => ids === undefined || ids.includes(id)),
      async commit(change) {
        await store.beforeCommit();
        if (!kept) return "lost";
        kept = change.credentials ?? kept;
        for (const { kind, id, value } of change.keys) {
          if (value === null) texts.delete(`${kind} ${id}`);
          else texts.set(`${kind} ${id}`, value);
        }
        for (const entry of change.journal_entries)
          entries.set(entry.id, { ...entries.get(entry.id), ...entry });
        for (const id of change.deleted_journal_ids) entries.delete(id);
        return "kept";
      },
    },
  };
  return store;
}
