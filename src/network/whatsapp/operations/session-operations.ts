import type { OperationResult } from "../../session-operations.ts";
import type { ConnectionOperations } from "./connection-operations.ts";

const NOT_CONNECTED: OperationResult<never> = { outcome: "failed", reason: "The session is not connected." };

/** The operations of a session, each run on the connection that is open at that moment. */
export function createSessionOperations(open: () => ConnectionOperations | undefined): ConnectionOperations {
  const put = async <Value>(
    ask: (calls: ConnectionOperations) => Promise<OperationResult<Value>>,
  ): Promise<OperationResult<Value>> => {
    const calls = open();
    return calls ? ask(calls) : NOT_CONNECTED;
  };
  return {
    contacts: {
      check: (numbers) => put(({ contacts }) => contacts.check(numbers)),
      info: (jid) => put(({ contacts }) => contacts.info(jid)),
      setBlocked: (jid, isBlocked) => put(({ contacts }) => contacts.setBlocked(jid, isBlocked)),
      blocked: () => put(({ contacts }) => contacts.blocked()),
      synchronise: () => put(({ contacts }) => contacts.synchronise()),
    },
    chats: {
      setState: (chat, change, last) => put(({ chats }) => chats.setState(chat, change, last)),
    },
    profile: {
      get: () => put(({ profile }) => profile.get()),
      setName: (name) => put(({ profile }) => profile.setName(name)),
      setAbout: (text) => put(({ profile }) => profile.setAbout(text)),
      setPicture: (image) => put(({ profile }) => profile.setPicture(image)),
    },
    groups: {
      list: () => put(({ groups }) => groups.list()),
      get: (group) => put(({ groups }) => groups.get(group)),
      create: (subject, people) => put(({ groups }) => groups.create(subject, people)),
      updateParticipants: (group, action, people) =>
        put(({ groups }) => groups.updateParticipants(group, action, people)),
      update: (group, change) => put(({ groups }) => groups.update(group, change)),
      invite: (group) => put(({ groups }) => groups.invite(group)),
      join: (code) => put(({ groups }) => groups.join(code)),
      leave: (group) => put(({ groups }) => groups.leave(group)),
    },
    rejectCall: (call_id, from) => put((calls) => calls.rejectCall(call_id, from)),
  };
}
