import type { Jid, Session } from "../../driver.ts";
import { createChatOperations } from "./chat-operations.ts";
import { createContactOperations } from "./contact-operations.ts";
import { createGroupOperations } from "./group-operations.ts";
import type { OperationContext } from "./operation-context.ts";
import { PendingOperations } from "./pending-operations.ts";
import { createProfileOperations } from "./profile-operations.ts";

/** The operations of a session, except messages. */
export type ConnectionOperations = Required<
  Pick<Session, "contacts" | "chats" | "profile" | "groups" | "rejectCall">
>;

/** The operations of one connection; `endAll` runs when it ends. */
export function createConnectionOperations(
  options: Omit<OperationContext, "pending">,
): ConnectionOperations & { endAll(): void } {
  const pending = new PendingOperations();
  const context = { ...options, pending };
  return {
    contacts: createContactOperations(context),
    chats: createChatOperations(context),
    profile: createProfileOperations(context),
    groups: createGroupOperations(context),
    rejectCall: (call_id, from) => pending.run(() => rejectPhoneCall(context, call_id, from)),
    endAll: () => pending.rejectAll(),
  };
}

/** Rejects it under the address from which it rings, which may differ from the person's main address. */
async function rejectPhoneCall(
  { sock, ringingCalls }: OperationContext,
  id: string,
  from: Jid,
): Promise<null> {
  await sock.rejectCall(id, ringingCalls.get(id)?.from ?? from);
  return null;
}
