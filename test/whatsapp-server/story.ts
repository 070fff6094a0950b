import { expect, vi } from "vitest";
import type { PersonInfo, Settings, WhatsAppControl } from "./control.ts";
import { RawClient } from "./raw-client.ts";
import { startWhatsAppServer, type WhatsAppServer } from "./server.ts";
import { silenceConsole } from "./silence-log.ts";
import { hardenSignatures, trustCertificates, trustRoot } from "./trust.ts";

export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 60_000, interval: 5 });

/** A server with a phone and Ana, and clients of the library as it is. */
export class Story {
  readonly server: WhatsAppServer;
  readonly control: WhatsAppControl;
  readonly me: PersonInfo;
  readonly ana: PersonInfo;
  readonly #distrust: () => void;
  readonly #clients: RawClient[] = [];

  constructor(server: WhatsAppServer, me: PersonInfo, ana: PersonInfo) {
    this.server = server;
    this.#distrust = trustCertificates(server.caFile);
    this.control = server.control;
    this.me = me;
    this.ana = ana;
  }

  static async start(settings: Partial<Settings> = {}): Promise<Story> {
    silenceConsole();
    hardenSignatures();
    const server = await startWhatsAppServer(settings);
    trustRoot(server.rootKeyHex);
    const me = await server.control.addPerson({ name: "Me" });
    return new Story(server, me, await server.control.addPerson({ name: "Ana" }));
  }

  client(options: ConstructorParameters<typeof RawClient>[1] = {}): RawClient {
    const client = new RawClient(this.server, options);
    this.#clients.push(client);
    return client;
  }

  /** A client that has been paired with a phone and has logged in. */
  async paired(
    phone = this.me.phone,
    options: ConstructorParameters<typeof RawClient>[1] = {},
  ): Promise<RawClient> {
    const client = this.client(options);
    client.connect();
    await this.control.scan(phone, await eventually(() => known(client.qr)));
    await eventually(() => expect(client.closes).toEqual([515]));
    await this.login(client);
    await eventually(async () => expect(await this.control.waiting(phone)).toBe(0));
    return client;
  }

  async login(client: RawClient): Promise<void> {
    const opened = client.opened;
    client.connect();
    await eventually(() => expect(client.opened).toBe(opened + 1));
  }

  async end(): Promise<void> {
    for (const client of this.#clients) client.close();
    this.#distrust();
    const unhandled = await this.control.unhandled();
    await this.server.close();
    // The library by itself hands the key of a group to the sending device too, and so its own messages come back.
    expect(unhandled.filter((one) => !one.endsWith("to its own writer"))).toEqual([]);
  }
}

export function known<T>(value: T | undefined): T {
  expect(value).toBeDefined();
  return value as T;
}
