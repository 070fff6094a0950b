import { randomBytes } from "node:crypto";
import type { BinaryNode } from "baileys";
import { beforeEach, describe, expect, it } from "vitest";
import type { PasskeyDemand } from "../../../../test/whatsapp-server/control.ts";
import type { Network } from "../../../../test/whatsapp-server/network.ts";
import type { PairingCandidate } from "../../../../test/whatsapp-server/pairing/pairing.ts";
import { PasskeyCeremonies } from "../../../../test/whatsapp-server/pairing/passkey.ts";
import { ServerPerson } from "../../../../test/whatsapp-server/person.ts";
import type { PasskeyAssertion, PasskeyState } from "../../session-operations.ts";
import { KeyedMutex } from "../stanzas/keyed-mutex.ts";
import { PasskeyCeremony, type PasskeyFailure } from "./passkey-ceremony.ts";
import { QueryRejectedError } from "./registration-stream.ts";

/** A ceremony that exchanges stanzas with the phone directly, so that a test can change each. */
class Rehearsal {
  readonly person = new ServerPerson("5511999990001", "123", { name: "Shop", opaque: false });
  readonly unhandled: string[] = [];
  readonly states: PasskeyState[] = [];
  readonly failures: { failure: PasskeyFailure; detail: string | undefined }[] = [];
  readonly linked: Buffer[] = [];
  readonly acks: string[] = [];
  readonly keys = { noisePublic: randomBytes(32), identityPublic: randomBytes(32) };
  readonly secrets = [randomBytes(32)];
  readonly ceremonies: PasskeyCeremonies;
  readonly ceremony: PasskeyCeremony;
  rotate = async () => void this.secrets.push(randomBytes(32));
  readonly #candidate: PairingCandidate;
  readonly works = new KeyedMutex();
  readonly #responses: BinaryNode[] = [];
  tamper: (part: string, content: Buffer) => Buffer = (_, content) => content;

  constructor(
    timing: { passkeyHandoffMs?: number; passkeyResponseMs?: number; passkeyConfirmMs?: number } = {},
  ) {
    const connection = { record: { socket: 1 }, send: (node: BinaryNode) => this.#received(node) };
    const registration = { noiseKey: this.keys.noisePublic, identity: this.keys.identityPublic };
    this.#candidate = { connection, registration } as unknown as PairingCandidate;
    const network = { book: { unhandled: this.unhandled } } as unknown as Network;
    this.ceremonies = new PasskeyCeremonies(network, async (_person, _candidate, secret) => {
      this.linked.push(secret);
      return 1;
    });
    this.ceremony = new PasskeyCeremony({
      stream: {
        query: (iq) => this.#query(iq),
        acknowledge: async ({ attrs }) => void this.acks.push(attrs.type ?? ""),
        enqueue: (work) => this.works.run("", work),
      },
      secret: this.#secret(),
      keys: this.keys,
      timing: {
        passkeyHandoffMs: 60_000,
        passkeyResponseMs: 60_000,
        passkeyConfirmMs: 60_000,
        passkeyFinishMs: 60_000,
        ...timing,
      },
      report: async (state) => void this.states.push(state),
      fail: (failure, detail) => this.failures.push({ failure, detail }),
    });
  }

  /** Scans the QR code. */
  scan(demand: PasskeyDemand = {}): Promise<number> {
    const device = this.ceremonies.begin(this.person, this.#candidate, this.secrets[0] as Buffer, demand);
    device.catch(() => {});
    return device;
  }

  /** Repeats WhatsApp's request, as without an acknowledgement. */
  ask(): void {
    this.ceremonies.ask(this.#candidate);
  }

  /** Sends another request without another scan. */
  demand(options: Record<string, unknown> | string): Promise<void> {
    const text = typeof options === "string" ? options : JSON.stringify(options);
    const content = [{ tag: "passkey_request_options", attrs: {}, content: Buffer.from(text) }];
    const attrs = { id: randomBytes(4).toString("hex"), type: "passkey_prologue_request" };
    return this.ceremony.start({ tag: "notification", attrs, content });
  }

  async untilStage(stage: PasskeyState["stage"]): Promise<void> {
    await expect.poll(() => this.states.at(-1)?.stage).toBe(stage);
  }

  async sign(): Promise<PasskeyAssertion> {
    await this.untilStage("required");
    return this.person.passkey.sign(this.states.at(-1)?.options ?? {});
  }

  #secret() {
    const { secrets } = this;
    return {
      get current() {
        return secrets.at(-1) as Buffer;
      },
      rotate: () => this.rotate(),
    };
  }

  #received(node: BinaryNode): void {
    if (node.tag !== "notification") this.#responses.push(node);
    else if (node.attrs.type === "crsc_continuation") void this.ceremony.continuation(node);
    else void this.ceremony.start(node);
  }

  async #query(iq: BinaryNode): Promise<BinaryNode> {
    const content = (iq.content as BinaryNode[]).map((part) => this.#tampered(part));
    this.ceremonies.stanza(this.#candidate, { ...iq, attrs: { ...iq.attrs, id: "1" }, content });
    const response = this.#responses.shift() as BinaryNode;
    if (response.attrs.type === "error") throw new QueryRejectedError(response);
    return response;
  }

  #tampered(part: BinaryNode): BinaryNode {
    if (Array.isArray(part.content))
      return { ...part, content: part.content.map((inner) => this.#tampered(inner)) };
    if (!(part.content instanceof Uint8Array)) return part;
    return { ...part, content: this.tamper(part.tag, Buffer.from(part.content)) };
  }
}

const flip = (tag: string) => (part: string, content: Buffer) =>
  part === tag ? Buffer.from(content.map((byte, i) => (i === 9 ? byte ^ 1 : byte))) : content;

describe("a passkey ceremony", () => {
  let rehearsal: Rehearsal;
  beforeEach(() => {
    rehearsal = new Rehearsal();
  });

  it("links with the secret that replaced the scanned one, and requires no comparison of codes", async () => {
    const device = rehearsal.scan();
    expect(await rehearsal.ceremony.submitAssertion(await rehearsal.sign())).toEqual({
      outcome: "done",
      value: "awaiting_phone",
    });
    expect(await device).toBe(1);
    expect(rehearsal.secrets).toHaveLength(2);
    expect(rehearsal.linked).toEqual([rehearsal.secrets[1]]);
    await rehearsal.untilStage("finishing");
    expect(rehearsal.states.map(({ stage }) => stage)).toEqual(["required", "awaiting_phone", "finishing"]);
    expect(rehearsal.acks).toEqual(["passkey_prologue_request", "crsc_continuation"]);
    expect([rehearsal.unhandled, rehearsal.failures]).toEqual([[], []]);
  });

  it("requires a user to compare the code when the proof of the scan is too old", async () => {
    rehearsal = new Rehearsal({ passkeyHandoffMs: 0 });
    const device = rehearsal.scan();
    await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    await rehearsal.untilStage("confirmation_required");
    const { code } = rehearsal.states.at(-1) as PasskeyState;
    expect(code).toMatch(/^[1-9A-HJ-NP-TV-Z]{4}-[1-9A-HJ-NP-TV-Z]{4}$/);
    expect(code).toBe(rehearsal.ceremonies.codeOf(rehearsal.person));
    expect(rehearsal.linked).toEqual([]);
    expect(await rehearsal.ceremony.confirm()).toEqual({ outcome: "done", value: "finishing" });
    expect(await device).toBe(1);
    expect(await rehearsal.ceremony.confirm()).toMatchObject({ outcome: "refused", code: "CONFLICT" });
  });

  it.each(["pairing_handoff_proof", "companion_nonce", "encrypted_pairing_request"])(
    "does not link when %s is not what the phone expects",
    async (part) => {
      rehearsal.tamper = flip(part);
      void rehearsal.scan();
      await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
      await expect.poll(() => rehearsal.unhandled).toHaveLength(1);
      expect(rehearsal.linked).toEqual([]);
    },
  );

  it("remains ready for another signature when WhatsApp refuses one", async () => {
    const device = rehearsal.scan({ refusals: [401] });
    const refused = await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    expect(refused).toMatchObject({
      outcome: "refused",
      code: "SEND_FAILED",
      reason: expect.stringContaining("401"),
    });
    expect(rehearsal.ceremony.stage).toBe("required");
    await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    expect(await device).toBe(1);
  });

  it.each(["short_key", "long_nonce", "weak_key"] as const)(
    "ends when the phone responds with %s",
    async (response) => {
      void rehearsal.scan({ response });
      await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
      await expect.poll(() => rehearsal.failures).toMatchObject([{ failure: "passkey_failed" }]);
      expect(rehearsal.linked).toEqual([]);
      expect(rehearsal.ceremony.isActive).toBe(false);
      // The nonce is revealed only to a valid key.
      const code = rehearsal.ceremonies.codeOf(rehearsal.person);
      expect(code === undefined).toBe(response !== "weak_key");
    },
  );

  it.each(["absent", "broken"] as const)("requests the options when they are %s", async (options) => {
    const device = rehearsal.scan({ options });
    await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    expect(await device).toBe(1);
  });

  it("ends when there are no options", async () => {
    void rehearsal.scan({ options: "never" });
    await expect.poll(() => rehearsal.failures).toMatchObject([{ failure: "passkey_failed" }]);
  });

  it("treats two responses of a phone as one", async () => {
    const device = rehearsal.scan({ response: "twice" });
    await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    expect(await device).toBe(1);
    expect([rehearsal.unhandled, rehearsal.failures]).toEqual([[], []]);
  });

  it("acknowledges a repeated request and keeps the challenge and the secret", async () => {
    void rehearsal.scan();
    await rehearsal.untilStage("required");
    rehearsal.ask();
    await expect.poll(() => rehearsal.acks).toEqual(["passkey_prologue_request", "passkey_prologue_request"]);
    expect([rehearsal.states.length, rehearsal.secrets.length]).toEqual([1, 2]);
  });

  it("proves the scan with the scanned secret when WhatsApp sends a second request", async () => {
    const device = rehearsal.scan();
    await rehearsal.untilStage("required");
    await rehearsal.demand(rehearsal.states[0]?.options ?? {});
    expect(rehearsal.states.map(({ stage }) => stage)).toEqual(["required", "required"]);
    await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    expect(await device).toBe(1);
    expect(rehearsal.linked).toEqual([rehearsal.secrets.at(-1)]);
    expect([rehearsal.unhandled, rehearsal.failures]).toEqual([[], []]);
  });

  it("requests another signature when a second request overtakes the first one", async () => {
    void rehearsal.scan({ response: "never" });
    const submitted = rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    await rehearsal.demand({ challenge: "bmV3" });
    expect(await submitted).toMatchObject({ outcome: "refused", code: "CONFLICT" });
    expect(rehearsal.states.at(-1)).toMatchObject({ stage: "required", options: { challenge: "bmV3" } });
  });

  it("discards the code of the first request at the second one", async () => {
    rehearsal = new Rehearsal({ passkeyHandoffMs: 0 });
    void rehearsal.scan();
    await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    await rehearsal.untilStage("confirmation_required");
    const { options } = rehearsal.states[0] as PasskeyState;
    await rehearsal.demand(options ?? {});
    await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    const codes = rehearsal.states.slice(-3).map(({ stage, code }) => [stage, code !== null]);
    expect(codes).toContainEqual(["awaiting_phone", false]);
    expect(codes).not.toContainEqual(["awaiting_phone", true]);
  });

  it("confirms no code while another request replaces the secret", async () => {
    rehearsal = new Rehearsal({ passkeyHandoffMs: 0 });
    void rehearsal.scan();
    await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    await rehearsal.untilStage("confirmation_required");
    const { options } = rehearsal.states[0] as PasskeyState;
    const { rotate } = rehearsal;
    let store = () => {};
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    rehearsal.rotate = () => stored.then(rotate);
    const demanded = rehearsal.works.run("", () => rehearsal.demand(options ?? {}));
    const confirmed = rehearsal.ceremony.confirm();
    store();
    await demanded;
    expect(await confirmed).toMatchObject({ outcome: "refused", code: "CONFLICT" });
    expect(rehearsal.linked).toEqual([]);
    expect(rehearsal.states.at(-1)?.stage).toBe("required");
  });

  it("treats options that are nested too deep as invalid", async () => {
    const deep = `{"challenge":"b2xk","extensions":${"[".repeat(4_000)}${"]".repeat(4_000)}}`;
    void rehearsal.scan();
    await rehearsal.untilStage("required");
    const { challenge } = rehearsal.states[0]?.options ?? {};
    await rehearsal.demand(deep);
    expect(rehearsal.states.at(-1)).toMatchObject({ stage: "required", options: { challenge } });
  });

  it("ends with a message about the phone when the phone does not respond", async () => {
    rehearsal = new Rehearsal({ passkeyResponseMs: 20 });
    void rehearsal.scan({ response: "never" });
    await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    await expect.poll(() => rehearsal.failures).toMatchObject([{ failure: "passkey_no_answer" }]);
  });

  it("ends when no user confirms the code", async () => {
    rehearsal = new Rehearsal({ passkeyHandoffMs: 0, passkeyConfirmMs: 20 });
    void rehearsal.scan();
    await rehearsal.ceremony.submitAssertion(await rehearsal.sign());
    await expect.poll(() => rehearsal.failures).toMatchObject([{ failure: "passkey_not_confirmed" }]);
    expect(await rehearsal.ceremony.confirm()).toMatchObject({ code: "CONFLICT" });
  });

  it("ends once when it is cancelled", async () => {
    void rehearsal.scan();
    await rehearsal.untilStage("required");
    expect(await rehearsal.ceremony.cancel()).toEqual({ outcome: "done", value: null });
    expect(await rehearsal.ceremony.cancel()).toMatchObject({ code: "CONFLICT" });
    expect(rehearsal.failures).toMatchObject([{ failure: "passkey_cancelled" }]);
  });

  type Change = (assertion: PasskeyAssertion) => PasskeyAssertion;
  const inResponse =
    (part: Partial<PasskeyAssertion["response"]>): Change =>
    (one) => ({ ...one, response: { ...one.response, ...part } });
  it.each<[string, string, string, Change]>([
    ["a short signature", "VALIDATION_ERROR", "signature", inResponse({ signature: "AAAA" })],
    ["padding", "VALIDATION_ERROR", "signature", inResponse({ signature: `${"A".repeat(43)}=` })],
    ["no authenticator data", "VALIDATION_ERROR", "authenticatorData", inResponse({ authenticatorData: "" })],
    ["a long user handle", "VALIDATION_ERROR", "userHandle", inResponse({ userHandle: "A".repeat(100) })],
    ["two ids", "VALIDATION_ERROR", "rawId", (one) => ({ ...one, rawId: "AAAA" })],
    ["another type", "VALIDATION_ERROR", "public-key", (one) => ({ ...one, type: "password" })],
    [
      "another relying party",
      "VALIDATION_ERROR",
      "whatsapp.com",
      inResponse({ authenticatorData: "A".repeat(50) }),
    ],
  ])("refuses %s without sending anything to WhatsApp", async (_, code, words, change) => {
    void rehearsal.scan();
    const assertion = await rehearsal.sign();
    const result = await rehearsal.ceremony.submitAssertion(change(assertion));
    expect(result).toMatchObject({ outcome: "refused", code, reason: expect.stringContaining(words) });
    expect(rehearsal.states.map(({ stage }) => stage)).toEqual(["required"]);
    expect(await rehearsal.ceremony.submitAssertion(assertion)).toMatchObject({ outcome: "done" });
  });

  it("refuses an assertion of another page, and one for an older challenge", async () => {
    void rehearsal.scan();
    await rehearsal.untilStage("required");
    const options = rehearsal.states.at(-1)?.options ?? {};
    const { passkey } = rehearsal.person;
    const foreign = passkey.sign(options, "https://whatsapp.com.evil.example");
    expect(await rehearsal.ceremony.submitAssertion(foreign)).toMatchObject({ code: "VALIDATION_ERROR" });
    const stale = passkey.sign({ ...options, challenge: "b2xk" });
    expect(await rehearsal.ceremony.submitAssertion(stale)).toMatchObject({ code: "CONFLICT" });
  });

  it("refuses everything before WhatsApp has sent a request", async () => {
    const assertion = rehearsal.person.passkey.sign({ challenge: "b2xk" });
    for (const pending of [
      rehearsal.ceremony.submitAssertion(assertion),
      rehearsal.ceremony.confirm(),
      rehearsal.ceremony.cancel(),
    ])
      expect(await pending).toMatchObject({ outcome: "refused", code: "CONFLICT" });
  });

  it("refuses a second assertion while the first is being checked", async () => {
    void rehearsal.scan();
    const assertion = await rehearsal.sign();
    const first = rehearsal.ceremony.submitAssertion(assertion);
    expect(await rehearsal.ceremony.submitAssertion(assertion)).toMatchObject({ code: "CONFLICT" });
    expect(await first).toMatchObject({ outcome: "done" });
  });
});
