import { afterEach, beforeEach, expect } from "vitest";
import type { Content, CredentialStore, MessageId } from "../../src/network/driver.ts";
import { newMessageId } from "../../src/network/ids.ts";
import { eventually, Listener } from "./listener.ts";
import type { Seen, Stage, StageOptions } from "./stage.ts";

type Start = (options?: StageOptions) => Promise<Stage>;

/** A stage of its own for each test, and what the tests do on it. */
export class DriverStory {
  stage!: Stage;
  readonly #start: Start;
  #opened: Listener[] = [];

  constructor(start: Start) {
    this.#start = start;
    beforeEach(async () => {
      this.#opened = [];
      this.stage = await start();
    });
    afterEach(async () => {
      await Promise.all(this.#opened.map((listener) => listener.session.disconnect()));
      await this.stage.stop();
    });
  }

  async restart(options: StageOptions): Promise<void> {
    await this.stage.stop();
    this.stage = await this.#start(options);
  }

  open(credentials: CredentialStore = this.stage.credentials()): Listener {
    const listener = new Listener(this.stage.driver, credentials);
    this.#opened.push(listener);
    return listener;
  }

  async pair(): Promise<Listener> {
    const listener = this.open();
    await listener.pair(this.stage.phone);
    return listener;
  }

  async send(listener: Listener, content: Content, id = newMessageId()): Promise<MessageId> {
    const result = await listener.session.send(this.stage.contact.jid, content, { id });
    expect(result).toMatchObject({ outcome: "accepted", at: expect.any(Date) });
    return id;
  }

  /** The one thing of its type that the contact saw. */
  seen<Type extends Seen["type"]>(type: Type): Promise<Extract<Seen, { type: Type }>> {
    return eventually(async () => {
      const found = (await this.stage.contact.seen()).filter((one) => one.type === type);
      expect(found, `the contact saw ${type}`).toHaveLength(1);
      return found[0] as Extract<Seen, { type: Type }>;
    });
  }
}
