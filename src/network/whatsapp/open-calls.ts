import type { Session } from "../driver.ts";
import type { CallDesk } from "./call-desk.ts";
import { CallLine } from "./call-line.ts";
import { rejectCall } from "./calls.ts";
import { chatCalls } from "./chat-calls.ts";
import { contactCalls } from "./contact-calls.ts";
import { groupCalls } from "./group-calls.ts";
import { profileCalls } from "./profile-calls.ts";

/** What a session can be asked beside messages. */
export type Calls = Required<Pick<Session, "contacts" | "chats" | "profile" | "groups" | "rejectCall">>;

/** The calls of one connection; `endAll` when it is over. */
export function openCalls(options: Omit<CallDesk, "line">): Calls & { endAll(): void } {
  const line = new CallLine();
  const desk = { ...options, line };
  return {
    contacts: contactCalls(desk),
    chats: chatCalls(desk),
    profile: profileCalls(desk),
    groups: groupCalls(desk),
    rejectCall: (call_id, from) => line.ask(() => rejectCall(desk, call_id, from)),
    endAll: () => line.endAll(),
  };
}
