import type {
  Content,
  CredentialStore,
  Jid,
  MessageId,
  NetworkDriver,
  NetworkEvent,
  OpenSessionOptions,
  Session,
} from "./driver.ts";

export interface SessionRegistryOptions {
  drivers: readonly NetworkDriver[];
  credentials(instance: number): CredentialStore;
  /** Resolves once the event is stored; rejects if it is not. */
  report(instance: number, event: NetworkEvent): Promise<void>;
  /** Whether a failure of the two functions above is temporary. */
  isTransientError?(error: unknown): boolean;
  /** Finds a sent message by its id. */
  findSent?(instance: number, chat: Jid, id: MessageId): Promise<Content | undefined>;
}

/** The options that belong to one session. */
export type SessionOptions = Pick<
  OpenSessionOptions,
  "account_id" | "proxy" | "lookup" | "markOnline" | "deviceName" | "activeAt"
>;

/** The open sessions of this process, at most one per instance. */
export interface SessionRegistry {
  /** The instance's session, opened with these options on the first call; the caller connects it. */
  open(instance: number, network: NetworkDriver["network"], options: SessionOptions): Session;
  get(instance: number): Session | undefined;
  /** Removes the session and closes its connection; the identity stays stored. */
  close(instance: number): Promise<void>;
}

interface OpenSession {
  session: Session;
  end(): void;
}

export function createSessionRegistry({
  drivers,
  credentials,
  report,
  findSent,
  isTransientError,
}: SessionRegistryOptions): SessionRegistry {
  const connectionLoops = new Map<number, OpenSession>();

  const start = (
    instance: number,
    network: NetworkDriver["network"],
    options: SessionOptions,
  ): OpenSession => {
    const driver = drivers.find((one) => one.network === network);
    if (!driver) throw new Error(`There is no driver for the network ${network}.`);
    let isOver = false;
    const session = driver.open({
      ...options,
      instance_id: instance,
      credentials: credentials(instance),
      report: async (event) => {
        // Rejects a late event, so that the network delivers it again to the next session.
        if (isOver) throw new Error("The session is closed.");
        await report(instance, event);
      },
      ...(isTransientError && { isTransientError }),
      ...(findSent && { findSent: (chat, id) => findSent(instance, chat, id) }),
    });
    return {
      session,
      end: () => {
        isOver = true;
      },
    };
  };

  const close = async (instance: number): Promise<void> => {
    const loop = connectionLoops.get(instance);
    if (!loop) return;
    connectionLoops.delete(instance);
    loop.end();
    await loop.session.disconnect();
  };

  return {
    open(instance, network, options) {
      const loop = connectionLoops.get(instance) ?? start(instance, network, options);
      connectionLoops.set(instance, loop);
      return loop.session;
    },
    get: (instance) => connectionLoops.get(instance)?.session,
    close,
  };
}
