import { expect, vi } from "vitest";
import type {
  CredentialStore,
  MessageId,
  NetworkDriver,
  NetworkEvent,
  OpenSessionOptions,
  Session,
} from "../../src/network/driver.ts";

/** The complete content of an inbound file; undefined if it is gone. */
export async function downloadWhole(session: Session, ref: unknown): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  const end = await session.downloadMedia?.(ref, (chunk) => void chunks.push(chunk));
  return end === "done" ? Buffer.concat(chunks) : undefined;
}

export type EventOf<Type extends NetworkEvent["type"]> = Extract<NetworkEvent, { type: Type }>;

/** A session whose events are recorded. */
export class RecordingSession {
  readonly session: Session;
  readonly credentials: CredentialStore;
  readonly events: NetworkEvent[] = [];
  /** Runs before an event counts as stored. */
  gate: (event: NetworkEvent) => Promise<void> = async () => undefined;

  constructor(
    driver: NetworkDriver,
    credentials: CredentialStore,
    options: Partial<OpenSessionOptions> = {},
  ) {
    this.credentials = credentials;
    this.session = driver.open({
      account_id: 1,
      ...options,
      credentials,
      report: async (event) => {
        await this.gate(event);
        this.events.push(event);
      },
    });
  }

  /** First connection: the phone scans the QR code. */
  async pair(phone: { scan(qr: string): Promise<unknown> }): Promise<void> {
    this.session.connect();
    await phone.scan((await this.waitForEvent("qr")).qr);
    await this.waitForEvent("connected");
  }

  all<Type extends NetworkEvent["type"]>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  /** The nth event of a type, once it has arrived. */
  waitForEvent<Type extends NetworkEvent["type"]>(type: Type, nth = 1): Promise<EventOf<Type>> {
    return eventually(() => {
      const event = this.all(type)[nth - 1];
      expect(event, `${type} no. ${nth}`).toBeDefined();
      return event as EventOf<Type>;
    });
  }

  async message(id: MessageId): Promise<EventOf<"message">["message"]> {
    const event = await eventually(() => {
      const found = this.all("message").find((one) => one.message.id === id);
      expect(found, `message ${id}`).toBeDefined();
      return found as EventOf<"message">;
    });
    return event.message;
  }

  countEvents(id: MessageId): number {
    return this.all("message").filter((one) => one.message.id === id).length;
  }
}

export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 10 });
}
