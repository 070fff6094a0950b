import type { NetworkEvent, SendResult } from "../../driver.ts";
import { resultWithin } from "../../result-within.ts";
import type { SocketState } from "../inbox/device-inbox.ts";
import { InboxConsumer } from "../inbox/inbox-consumer.ts";
import { closeSocket, type LoggedInDevice } from "../pairing/log-in.ts";
import type { RequestOutcome } from "../requests/record-requests.ts";
import type { SandboxRequest } from "../requests/sandbox-request.ts";
import {
  failedResult,
  NO_ACK,
  NOT_CONNECTED,
  NOT_IN_GROUP,
  refusedResult,
} from "../requests/send-results.ts";
import type { SandboxRuntime } from "./sandbox-runtime.ts";

export type CloseReason = Exclude<SocketState, "open"> | "closed";

/** An open socket: sends requests and reads the inbox until one side closes it. */
export class SandboxConnection {
  readonly me: LoggedInDevice;
  readonly session: string;
  /** Resolves once, with the reason why the socket is closed. */
  readonly closed: Promise<CloseReason>;
  readonly #runtime: SandboxRuntime;
  readonly #drain: InboxConsumer;
  readonly #pending = new Set<(result: SendResult) => void>();
  #isOpen = true;
  #resolveClosed: (reason: CloseReason) => void = () => undefined;

  constructor(
    runtime: SandboxRuntime,
    me: LoggedInDevice,
    session: string,
    report: (event: NetworkEvent) => Promise<void>,
  ) {
    this.#runtime = runtime;
    this.me = me;
    this.session = session;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#drain = new InboxConsumer({
      read: (busy) => runtime.pages.add({ device: me.device, session, busy }),
      report,
      acknowledge: (entries) => runtime.acknowledge(entries),
      onClosed: (state) => this.#end(state),
      onFailure: (error) =>
        runtime.log?.warn({ err: error }, "sandbox: an inbox entry could not be reported"),
      redeliveryMs: runtime.timing.redeliverMs,
    });
  }

  poll(): void {
    if (this.#isOpen) this.#drain.poll();
  }

  /** Resolves with the network's result; stays pending while the network does not respond. */
  request(request: SandboxRequest): Promise<SendResult> {
    if (!this.#isOpen) return Promise.resolve(NOT_CONNECTED);
    // The network's time of the message, which its response repeats however late it comes.
    const at = new Date();
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const resolvePending = (result: SendResult) => {
        clearTimeout(timer);
        this.#pending.delete(resolvePending);
        resolve(result);
      };
      this.#pending.add(resolvePending);
      this.#runtime.requests.add(request).then(
        (outcome) => {
          const waitMs = this.#responseDelayMs(outcome);
          if (waitMs === 0) resolvePending(this.#resultOf(outcome, at));
          else timer = setTimeout(() => resolvePending(this.#resultOf(outcome, at)), waitMs).unref();
        },
        (error) => resolvePending(failedResult(error)),
      );
    });
  }

  /** Closes from the gateway's side: waits for current reports, then notifies the network. */
  async close(): Promise<void> {
    const { closeMs } = this.#runtime.timing;
    await resultWithin(this.#drain.finish(), closeMs);
    if (!this.#isOpen) return;
    this.#end("closed");
    await resultWithin(closeSocket(this.#runtime.pool, this.me.device, this.session), closeMs);
  }

  /** Drops the socket without notifying the network, as a killed process does. */
  terminate(): void {
    this.#end("closed");
  }

  #responseDelayMs(outcome: RequestOutcome): number {
    if (outcome === "slow") return this.#runtime.timing.slowAckMs;
    return outcome === "silent" ? this.#runtime.timing.silentMs : 0;
  }

  #resultOf(outcome: RequestOutcome, at: Date): SendResult {
    switch (outcome) {
      case "accepted":
      case "slow":
        return { outcome: "accepted", at };
      case "silent":
        return NO_ACK;
      case "missing":
        return refusedResult("recipient_not_found", "The number is not on the network.");
      case "outside":
        return refusedResult("not_a_member", NOT_IN_GROUP);
      case "refused":
        return refusedResult("refused", "The network refused the message.");
      case "closed":
        this.poll();
        return NOT_CONNECTED;
    }
  }

  #end(reason: CloseReason): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#drain.stop();
    for (const resolvePending of [...this.#pending]) resolvePending(NO_ACK);
    this.#resolveClosed(reason);
  }
}
