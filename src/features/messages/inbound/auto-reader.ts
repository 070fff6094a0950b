import type { Session } from "../../../network/driver.ts";
import { isUndecrypted, type NetworkMessage } from "../../../network/network-message.ts";
import { withTimeout } from "../../../platform/limits/with-timeout.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { MessageReceipt } from "../receipts/message-receipt.ts";

const TOGETHER_MS = 250;
const TIMEOUT_MS = 20_000;

export interface AutoReaderOptions {
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
  record: (receipt: MessageReceipt) => Promise<void>;
  log: Log;
}

/** Marks messages as read in the background; messages of a chat that arrive together share one request. */
export function createAutoReader({ connectedSession, record, log }: AutoReaderOptions) {
  const waiting = new Map<string, { instance_id: number; messages: NetworkMessage[] }>();

  async function markRead(key: string): Promise<void> {
    const { instance_id, messages } = waiting.get(key) ?? { instance_id: 0, messages: [] };
    waiting.delete(key);
    const [first] = messages;
    if (!first) return;
    const { chat } = first;
    const targets = messages.map(({ id, sender }) => ({ chat, id, from_me: false, sender: sender.jid }));
    const marking = connectedSession(instance_id)?.markRead?.(chat, targets);
    const result = marking && (await withTimeout(marking, TIMEOUT_MS));
    if (result?.outcome !== "accepted") return;
    const ids = messages.map(({ id }) => id);
    await record({ instance_id, chat, ids, from_me: false, status: "read", at: result.at });
  }

  return (instance_id: number, message: NetworkMessage): void => {
    if (message.from_me || message.history || isUndecrypted(message)) return;
    const key = `${instance_id} ${message.chat}`;
    const together = waiting.get(key);
    if (together) return void together.messages.push(message);
    waiting.set(key, { instance_id, messages: [message] });
    const fail = (error: unknown) =>
      log.warn({ err: error, instance_id }, "messages could not be marked as read");
    setTimeout(() => void markRead(key).catch(fail), TOGETHER_MS).unref();
  };
}
