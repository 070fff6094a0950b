import type { BinaryNode } from "baileys";
import type {
  OperationErrorCode,
  OperationResult,
  PasskeyAssertion,
  PasskeyStage,
  PasskeyState,
} from "../../session-operations.ts";
import type { WhatsAppTiming } from "../whatsapp-timing.ts";
import {
  type CompanionIdentity,
  confirmationCode,
  createCompanionIdentity,
  deriveHandoffKey,
  type PrimaryIdentity,
  proveHandoff,
  type RegistrationKeys,
  readPrimaryIdentity,
  sealPairingRequest,
} from "./passkey-crypto.ts";
import { type PasskeyOptions, readPasskeyOptions } from "./passkey-options.ts";
import { readPasskeyAssertion, type SignedChallenge } from "./read-passkey-assertion.ts";
import { bytesOf, childOf, QueryRejectedError, type RegistrationStream } from "./registration-stream.ts";

/** Why a ceremony ended without a link. */
export type PasskeyFailure =
  | "passkey_expired"
  | "passkey_no_answer"
  | "passkey_not_confirmed"
  | "passkey_failed"
  | "passkey_cancelled";

export interface PasskeyCeremonyOptions {
  stream: Pick<RegistrationStream, "query" | "acknowledge" | "enqueue">;
  /** The ADV secret of the registration; `rotate` resolves once the new one is stored. */
  secret: { readonly current: Uint8Array; rotate(): Promise<void> };
  keys: RegistrationKeys;
  timing: Pick<
    WhatsAppTiming,
    "passkeyHandoffMs" | "passkeyResponseMs" | "passkeyConfirmMs" | "passkeyFinishMs"
  >;
  /** Resolves once the state is stored. */
  report(state: PasskeyState): Promise<void>;
  /** The pairing has failed. Called at most once. */
  fail(failure: PasskeyFailure, detail?: string): void;
}

interface Handoff {
  readonly key: Uint8Array;
  readonly since: number;
}

/** The key exchange with the phone. */
interface Exchange {
  readonly companion: CompanionIdentity;
  /** If we prove that the QR was ours, the user need not compare codes. */
  readonly isProved: boolean;
}

const MAX_IDENTITY_BYTES = 1_024;
const MAX_REF_BYTES = 1_024;

/**
 * Links an account that requires its passkey: a browser signs, the phone responds, both sides agree on a key.
 */
export class PasskeyCeremony {
  readonly #options: PasskeyCeremonyOptions;
  #stage: PasskeyStage | "none" | "over" = "none";
  #timer: NodeJS.Timeout | undefined;
  #request: PasskeyOptions | undefined;
  #requestId: string | undefined;
  #expiresAt = new Date(0);
  #handoff: Handoff | undefined;
  #exchange: Exchange | undefined;
  #primary: PrimaryIdentity | undefined;
  #submission: Promise<OperationResult<PasskeyStage>> | undefined;

  constructor(options: PasskeyCeremonyOptions) {
    this.#options = options;
  }

  get stage(): PasskeyStage | "none" | "over" {
    return this.#stage;
  }

  /** Whether the network has requested a passkey, and the pairing can still complete. */
  get isActive(): boolean {
    return this.#stage !== "none" && this.#stage !== "over";
  }

  /** The phone has the current secret or is about to receive it: another one would invalidate its consent. */
  get hasSharedSecret(): boolean {
    return this.#stage === "finishing";
  }

  /** `passkey_prologue_request`: the network requires a passkey. */
  async start(notification: BinaryNode): Promise<void> {
    const { stream, secret } = this.#options;
    const { id } = notification.attrs;
    const isRepeated = id !== undefined && id === this.#requestId;
    if (isRepeated || this.#stage === "over" || this.#stage === "finishing")
      return stream.acknowledge(notification);
    const request = readRequest(notification) ?? (await this.#queryRequest());
    this.#requestId = id;
    // A later demand comes without another scan, so the phone knows only the first secret.
    if (this.#stage === "none")
      this.#handoff = { key: deriveHandoffKey(secret.current), since: performance.now() };
    await secret.rotate();
    await stream.acknowledge(notification);
    if (!request) return this.#fail("passkey_failed", "WhatsApp sent no options for the passkey.");
    this.#request = request;
    this.#exchange = undefined;
    this.#primary = undefined;
    await this.#enter("required", request.timeoutMs, "passkey_expired");
  }

  /** `crsc_continuation`: the phone has responded to the signed challenge. */
  async continuation(notification: BinaryNode): Promise<void> {
    const { stream } = this.#options;
    // The phone's response may arrive together with the network's response to the assertion.
    await this.#submission;
    await stream.acknowledge(notification);
    const exchange = this.#exchange;
    if (this.#stage !== "awaiting_phone" || !exchange) return;
    const bytes = bytesOf(childOf(notification, "primary_ephemeral_identity"), 1, MAX_IDENTITY_BYTES);
    const primary = bytes && readPrimaryIdentity(bytes);
    if (!primary) return this.#fail("passkey_failed", "The phone's part of the key exchange cannot be read.");
    this.#primary = primary;
    if (!(await this.#report("companion_nonce", exchange.companion.nonce))) return;
    if (exchange.isProved) return void (await this.#finish());
    const { passkeyConfirmMs } = this.#options.timing;
    await this.#enter("confirmation_required", passkeyConfirmMs, "passkey_not_confirmed");
  }

  async submitAssertion(assertion: PasskeyAssertion): Promise<OperationResult<PasskeyStage>> {
    const request = this.#request;
    if (this.#stage !== "required" || !request) return conflict(NO_CHALLENGE);
    if (this.#submission) return conflict("An assertion is being checked. Wait for its result.");
    const signed = readPasskeyAssertion(assertion, request);
    if ("reason" in signed) return { outcome: "refused", ...signed };
    this.#submission = this.#submit(signed, request);
    try {
      return await this.#submission;
    } finally {
      this.#submission = undefined;
    }
  }

  /** The user confirms that the codes match. An earlier demand of WhatsApp takes precedence. */
  async confirm(): Promise<OperationResult<PasskeyStage>> {
    return (await this.#options.stream.enqueue(() => this.#confirm())) ?? conflict(NO_CODE);
  }

  async cancel(): Promise<OperationResult<null>> {
    if (!this.isActive) return conflict("No passkey is asked for now, so there is nothing to cancel.");
    this.#fail("passkey_cancelled");
    return { outcome: "done", value: null };
  }

  /** The connection has ended, or the pairing is complete. */
  end(): void {
    clearTimeout(this.#timer);
    this.#stage = "over";
  }

  async #confirm(): Promise<OperationResult<PasskeyStage>> {
    if (this.#stage !== "confirmation_required") return conflict(NO_CODE);
    return (await this.#finish())
      ? { outcome: "done", value: "finishing" }
      : refused("SEND_FAILED", "WhatsApp refused the confirmation. Connect the instance and begin again.");
  }

  async #queryRequest(): Promise<PasskeyOptions | undefined> {
    try {
      return readRequest(await this.#options.stream.query(iq("get", { tag: REQUEST, attrs: {} })));
    } catch {
      return undefined;
    }
  }

  async #submit(signed: SignedChallenge, request: PasskeyOptions): Promise<OperationResult<PasskeyStage>> {
    try {
      const exchange = await this.#sendPrologue(signed);
      if (!this.isActive) return conflict(NO_CHALLENGE);
      if (this.#request !== request) return conflict(SUPERSEDED);
      this.#exchange = exchange;
      this.#handoff = undefined;
      await this.#enter("awaiting_phone", this.#options.timing.passkeyResponseMs, "passkey_no_answer");
      return { outcome: "done", value: "awaiting_phone" };
    } catch (error) {
      if (!(error instanceof QueryRejectedError)) return { outcome: "failed", reason: UNANSWERED };
      const detail = [error.code, error.text].filter(Boolean).join(" ");
      return refused("SEND_FAILED", `WhatsApp refused the assertion (${detail}). Sign the challenge again.`);
    }
  }

  async #sendPrologue({ credentialId, json }: SignedChallenge): Promise<Exchange> {
    const { stream } = this.#options;
    const response = await stream.query(iq("get", { tag: "ref", attrs: {} }));
    const ref = bytesOf(childOf(response, "ref"), 1, MAX_REF_BYTES);
    if (!ref) throw new Error("WhatsApp named no reference for the passkey.");
    const companion = createCompanionIdentity(ref.toString());
    const proof = this.#proofOf(companion);
    const parts = [
      leaf("credential_id", credentialId),
      leaf("webauthn_assertion", json),
      leaf("prologue_payload", companion.prologue),
      ...(proof ? [leaf("pairing_handoff_proof", proof)] : []),
    ];
    await stream.query(iq("set", { tag: "passkey_prologue", attrs: {}, content: parts }));
    return { companion, isProved: proof !== undefined };
  }

  /** No proof if the QR was scanned too long ago. */
  #proofOf({ prologue }: CompanionIdentity): Buffer | undefined {
    const handoff = this.#handoff;
    if (!handoff) return undefined;
    const isFresh = performance.now() - handoff.since < this.#options.timing.passkeyHandoffMs;
    return isFresh ? proveHandoff(handoff.key, prologue) : undefined;
  }

  /** Sends the phone the keys and the secret of this registration, encrypted with the agreed key. */
  async #finish(): Promise<boolean> {
    const { secret, keys, timing } = this.#options;
    const companion = this.#exchange?.companion;
    if (!this.isActive || !companion || !this.#primary) return false;
    // Set before the first await: from here on, no other secret may replace this one.
    this.#stage = "finishing";
    const request = this.#seal(companion, this.#primary, keys, secret.current);
    if (!request) this.#fail("passkey_failed", "The phone's part of the key exchange cannot be used.");
    if (!request || !(await this.#report("encrypted_pairing_request", request))) return false;
    await this.#enter("finishing", timing.passkeyFinishMs, "passkey_no_answer");
    return true;
  }

  #seal(...parts: Parameters<typeof sealPairingRequest>): Buffer | undefined {
    try {
      return sealPairingRequest(...parts);
    } catch {
      return undefined;
    }
  }

  /** False if WhatsApp rejects the message, which ends the ceremony. */
  async #report(tag: string, content: Uint8Array): Promise<boolean> {
    try {
      await this.#options.stream.query(iq("set", leaf(tag, content)));
      return true;
    } catch (error) {
      this.#fail("passkey_failed", error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  async #enter(stage: PasskeyStage, ms: number, onExpiry: PasskeyFailure): Promise<void> {
    if (this.#stage === "over") return;
    clearTimeout(this.#timer);
    this.#stage = stage;
    this.#expiresAt = new Date(Date.now() + ms);
    this.#timer = setTimeout(() => this.#fail(onExpiry), ms);
    await this.#options.report(this.#state(stage));
  }

  #state(stage: PasskeyStage): PasskeyState {
    const options = stage === "required" ? (this.#request?.json ?? null) : null;
    return { stage, options, code: this.#code(), expires_at: this.#expiresAt };
  }

  #code(): string | null {
    if (!this.#exchange || !this.#primary) return null;
    const code = confirmationCode(this.#exchange.companion, this.#primary);
    return `${code.slice(0, 4)}-${code.slice(4)}`;
  }

  #fail(failure: PasskeyFailure, detail?: string): void {
    if (this.#stage === "over") return;
    this.end();
    this.#options.fail(failure, detail);
  }
}

const REQUEST = "passkey_request_options";
const NO_CHALLENGE = "WhatsApp requests no passkey now. Connect the instance and scan its QR code first.";
const NO_CODE = "No code needs a confirmation now. Read the state with GET .../passkey.";
const SUPERSEDED = "WhatsApp has sent another challenge in the meantime. Fetch it and sign that one.";
const UNANSWERED = "WhatsApp did not respond. Send the assertion again.";

function readRequest(node: BinaryNode): PasskeyOptions | undefined {
  return readPasskeyOptions(childOf(node, REQUEST)?.content);
}

function iq(type: "get" | "set", content: BinaryNode): BinaryNode {
  return { tag: "iq", attrs: { xmlns: "md", type }, content: [content] };
}

function leaf(tag: string, content: Uint8Array): BinaryNode {
  return { tag, attrs: {}, content };
}

function conflict(reason: string): OperationResult<never> {
  return refused("CONFLICT", reason);
}

function refused(code: OperationErrorCode, reason: string): OperationResult<never> {
  return { outcome: "refused", code, reason };
}
