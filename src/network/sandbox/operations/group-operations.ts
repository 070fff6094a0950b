import type { GroupOperations } from "../../session-operations.ts";
import {
  changeGroup,
  changeParticipants,
  createGroup,
  joinGroup,
  leaveGroup,
  toStoredGroup,
  validateGroupChange,
} from "../world/change-group.ts";
import { toGroup } from "../world/group-event.ts";
import { findGroupsOf, isRejected, requireMembership } from "../world/group-store.ts";
import { type RunOperation, rejected, succeeded } from "./network-action.ts";

export function groupOperations(ask: RunOperation): GroupOperations {
  return {
    list: () =>
      ask({ action: "groups" }, async (acting) => {
        const groups = await findGroupsOf(acting, acting.actor.phone);
        return succeeded(groups.map((group) => toGroup(toStoredGroup(group))));
      }),

    get: (jid) =>
      ask({ action: "group", chat: jid }, async (acting) => {
        const group = await requireMembership(acting, jid);
        return isRejected(group) ? group : succeeded(toGroup(toStoredGroup(group)));
      }),

    create: (subject, people) =>
      ask({ action: "group_create" }, async (acting) => {
        const problem = validateGroupChange({ subject });
        if (problem) return rejected("VALIDATION_ERROR", problem);
        const { group, results } = await createGroup(acting, subject, people);
        return succeeded({ group: toGroup(group), results });
      }),

    updateParticipants: (jid, action, people) =>
      ask({ action: `group_${action}`, chat: jid }, (acting) =>
        changeParticipants(acting, jid, action, people),
      ),

    update: (jid, change) =>
      ask({ action: "group_update", chat: jid }, (acting) => changeGroup(acting, jid, change)),

    invite: (jid) =>
      ask({ action: "group_invite", chat: jid }, async (acting) => {
        const group = await requireMembership(acting, jid, { asAdmin: true });
        return isRejected(group) ? group : succeeded(group.invite);
      }),

    join: (invite) => ask({ action: "group_join" }, (acting) => joinGroup(acting, invite)),

    leave: (jid) => ask({ action: "group_leave", chat: jid }, (acting) => leaveGroup(acting, jid)),
  };
}
