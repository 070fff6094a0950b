import type {
  Content,
  CredentialStore,
  Driver,
  Jid,
  MessageId,
  NetworkEvent,
  OpenOptions,
  Session,
} from "./driver.ts";

export interface SessionsOptions {
  drivers: readonly Driver[];
  credentials(instance: number): CredentialStore;
  /** Resolves once the event is stored; a rejection means that it is not. */
  report(instance: number, event: NetworkEvent): Promise<void>;
  /** Whether a failure of the two above passes by itself. */
  mayPass?(error: unknown): boolean;
  /** What was sent under an id. */
  findSent?(instance: number, chat: Jid, id: MessageId): Promise<Content | undefined>;
}

/** What is of this session alone. */
export type SessionOptions = Pick<
  OpenOptions,
  "account_id" | "proxy" | "lookup" | "markOnline" | "deviceName" | "activeAt"
>;

/** The sessions that this process has open, one per instance at most. */
export interface Sessions {
  /** The instance's session, opened with these options on the first call; connecting it is the caller's. */
  open(instance: number, network: Driver["network"], options: SessionOptions): Session;
  get(instance: number): Session | undefined;
  /** Forgets the session and closes its connection; the identity is kept. */
  close(instance: number): Promise<void>;
}

interface Life {
  session: Session;
  end(): void;
}

export function createSessions({
  drivers,
  credentials,
  report,
  findSent,
  mayPass,
}: SessionsOptions): Sessions {
  const lives = new Map<number, Life>();

  const start = (instance: number, network: Driver["network"], options: SessionOptions): Life => {
    const driver = drivers.find((one) => one.network === network);
    if (!driver) throw new Error(`There is no driver for the network ${network}.`);
    let isOver = false;
    const session = driver.open({
      ...options,
      instance_id: instance,
      credentials: credentials(instance),
      report: async (event) => {
        // A late event is refused, so that the network keeps it for the next life.
        if (isOver) throw new Error("The session is closed.");
        await report(instance, event);
      },
      ...(mayPass && { mayPass }),
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
    const life = lives.get(instance);
    if (!life) return;
    lives.delete(instance);
    life.end();
    await life.session.disconnect();
  };

  return {
    open(instance, network, options) {
      const life = lives.get(instance) ?? start(instance, network, options);
      lives.set(instance, life);
      return life.session;
    },
    get: (instance) => lives.get(instance)?.session,
    close,
  };
}
