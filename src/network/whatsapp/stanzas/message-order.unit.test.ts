import { describe, expect, test } from "vitest";
import { MessageOrder } from "./message-order.ts";

/** Messages whose handling the test ends; starts and ends are recorded. */
class Handled {
  readonly order = new MessageOrder();
  readonly log: string[] = [];
  readonly #ends = new Map<string, () => void>();

  receive(name: string, chat: string, author = chat): void {
    this.order.run(chat, author, () => this.#handle(name));
  }

  receivePeer(name: string): void {
    this.order.runAlone(() => this.#handle(name));
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await settled();
  }

  #handle(name: string): Promise<void> {
    this.log.push(`${name} begins`);
    return new Promise((end) => {
      this.#ends.set(name, () => {
        this.log.push(`${name} ends`);
        end();
      });
    });
  }
}

/** Everything possible without an end has happened. */
const settled = () => new Promise((done) => setImmediate(done));

describe("the messages of one connection", () => {
  test("are handled at the same time if they are in different chats", async () => {
    const handled = new Handled();
    handled.receive("a", "Ana");
    handled.receive("b", "Bia");
    await settled();
    expect(handled.log).toEqual(["a begins", "b begins"]);
  });

  test("are handled in order if they are in one chat", async () => {
    const handled = new Handled();
    handled.receive("a", "Team", "Ana");
    handled.receive("b", "Team", "Bia");
    handled.receive("c", "Team", "Cora");
    await settled();
    await handled.end("a");
    await handled.end("b");
    expect(handled.log).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins"]);
  });

  test("are never handled at the same time if they have the same author", async () => {
    const handled = new Handled();
    handled.receive("direct", "Ana");
    handled.receive("in the group", "Team", "Ana");
    handled.receive("of another", "Bia");
    await settled();
    expect(handled.log).toEqual(["direct begins", "of another begins"]);
    await handled.end("direct");
    expect(handled.log.slice(2)).toEqual(["direct ends", "in the group begins"]);
  });
});

describe("a message that is handled alone", () => {
  test("waits for all earlier messages and delays all later ones", async () => {
    const handled = new Handled();
    handled.receive("a", "Ana");
    handled.receive("b", "Bia");
    handled.receivePeer("keys");
    handled.receive("c", "Cora");
    handled.receive("a again", "Ana");
    await settled();
    await handled.end("a");
    expect(handled.log).toEqual(["a begins", "b begins", "a ends"]);
    await handled.end("b");
    expect(handled.log.slice(3)).toEqual(["b ends", "keys begins"]);
    await handled.end("keys");
    expect(handled.log.slice(5)).toEqual(["keys ends", "c begins", "a again begins"]);
  });

  test("waits for an earlier one that is handled alone", async () => {
    const handled = new Handled();
    handled.receivePeer("first");
    handled.receivePeer("second");
    await settled();
    expect(handled.log).toEqual(["first begins"]);
    await handled.end("first");
    expect(handled.log).toEqual(["first begins", "first ends", "second begins"]);
  });

  test("is handled when `whenAloneHandled` resolves", async () => {
    const handled = new Handled();
    handled.receivePeer("keys");
    await settled();
    void handled.order.whenAloneHandled().then(() => handled.log.push("reported"));
    await settled();
    expect(handled.log).toEqual(["keys begins"]);
    await handled.end("keys");
    expect(handled.log).toEqual(["keys begins", "keys ends", "reported"]);
  });
});
