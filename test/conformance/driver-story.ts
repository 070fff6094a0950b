import { afterEach, beforeEach, expect } from "vitest";
import type { Content, CredentialStore, MediaContent, MessageId } from "../../src/network/driver.ts";
import { newMessageId } from "../../src/network/jid.ts";
import { eventually, RecordingSession } from "./listener.ts";
import type { ContactObservation, DriverHarness, DriverHarnessOptions } from "./stage.ts";

export const text = (words: string): Content => ({ kind: "text", text: words });

export const DOT = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);
export const PICTURE: MediaContent = {
  kind: "media",
  media_type: "image",
  mime_type: "image/png",
  file_name: "dot.png",
  caption: "A dot",
  size: DOT.byteLength,
  bytes: DOT,
};

type Start = (options?: DriverHarnessOptions) => Promise<DriverHarness>;

/** A separate stage for each test. */
export class DriverStory {
  stage!: DriverHarness;
  readonly #start: Start;
  #opened: RecordingSession[] = [];

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

  async restart(options: DriverHarnessOptions): Promise<void> {
    await this.stage.stop();
    this.stage = await this.#start(options);
  }

  open(credentials: CredentialStore = this.stage.credentials()): RecordingSession {
    const listener = new RecordingSession(this.stage.driver, credentials);
    this.#opened.push(listener);
    return listener;
  }

  async pair(): Promise<RecordingSession> {
    const listener = this.open();
    await listener.pair(this.stage.phone);
    return listener;
  }

  async send(listener: RecordingSession, content: Content, id = newMessageId()): Promise<MessageId> {
    const result = await listener.session.send(this.stage.contact.jid, content, { id });
    expect(result).toMatchObject({ outcome: "accepted", at: expect.any(Date) });
    return id;
  }

  seen<Type extends ContactObservation["type"]>(
    type: Type,
  ): Promise<Extract<ContactObservation, { type: Type }>> {
    return eventually(async () => {
      const found = (await this.stage.contact.observed()).filter((one) => one.type === type);
      expect(found, `the contact saw ${type}`).toHaveLength(1);
      return found[0] as Extract<ContactObservation, { type: Type }>;
    });
  }
}
