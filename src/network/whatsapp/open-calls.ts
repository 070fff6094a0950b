import type { Session } from "../driver.ts";
import type { OperationContext } from "./call-desk.ts";
import { PendingOperations } from "./call-line.ts";
import { rejectPhoneCall } from "./calls.ts";
import { createChatOperations } from "./chat-calls.ts";
import { createContactOperations } from "./contact-calls.ts";
import { createGroupOperations } from "./group-calls.ts";
import { createProfileOperations } from "./profile-calls.ts";

/** What a session can be asked beside messages. */
export type ConnectionOperations = Required<
  Pick<Session, "contacts" | "chats" | "profile" | "groups" | "rejectCall">
>;

/** The calls of one connection; `endAll` when it is over. */
export function createConnectionOperations(
  options: Omit<OperationContext, "line">,
): ConnectionOperations & { endAll(): void } {
  const line = new PendingOperations();
  const desk = { ...options, line };
  return {
    contacts: createContactOperations(desk),
    chats: createChatOperations(desk),
    profile: createProfileOperations(desk),
    groups: createGroupOperations(desk),
    rejectCall: (call_id, from) => line.ask(() => rejectPhoneCall(desk, call_id, from)),
    endAll: () => line.endAll(),
  };
}
