import type { GroupOperations } from "../../session-operations.ts";
import { type RunOperation, rejected, succeeded } from "../connection/network-action.ts";
import { toGroup } from "../inbox/group-event.ts";
import {
  changeGroup,
  changeParticipants,
  createGroup,
  joinGroup,
  leaveGroup,
  previewGroup,
  toStoredGroup,
  validateGroupChange,
} from "../world/change-group.ts";
import { findGroupsOf, isRejected, renewInvite, requireMembership } from "../world/group-store.ts";
import { answerJoinRequests, listJoinRequests } from "../world/join-requests.ts";

export function groupOperations(run: RunOperation): GroupOperations {
  return {
    list: () =>
      run({ action: "groups" }, async (acting) => {
        const groups = await findGroupsOf(acting, acting.actor.phone);
        return succeeded(groups.map((group) => toGroup(toStoredGroup(group))));
      }),

    get: (jid) =>
      run({ action: "group", chat: jid }, async (acting) => {
        const group = await requireMembership(acting, jid);
        return isRejected(group) ? group : succeeded(toGroup(toStoredGroup(group)));
      }),

    create: (subject, participants) =>
      run({ action: "group_create" }, async (acting) => {
        const problem = validateGroupChange({ subject });
        if (problem) return rejected("VALIDATION_ERROR", problem);
        const { group, results } = await createGroup(acting, subject, participants);
        return succeeded({ group: toGroup(group), results });
      }),

    updateParticipants: (jid, action, participants) =>
      run({ action: `group_${action}`, chat: jid }, (acting) =>
        changeParticipants(acting, jid, action, participants),
      ),

    update: (jid, change) =>
      run({ action: "group_update", chat: jid }, (acting) => changeGroup(acting, jid, change)),

    invite: (jid) =>
      run({ action: "group_invite", chat: jid }, async (acting) => {
        const group = await requireMembership(acting, jid, { asAdmin: true });
        return isRejected(group) ? group : succeeded(group.invite);
      }),

    revokeInvite: (jid) =>
      run({ action: "group_revoke_invite", chat: jid }, async (acting) => {
        const group = await requireMembership(acting, jid, { asAdmin: true });
        return isRejected(group) ? group : succeeded(await renewInvite(acting, jid));
      }),

    preview: (invite) => run({ action: "group_preview" }, (acting) => previewGroup(acting, invite)),

    requests: (jid) =>
      run({ action: "group_requests", chat: jid }, (acting) => listJoinRequests(acting, jid)),

    updateRequests: (jid, action, people) =>
      run({ action: `group_${action}`, chat: jid }, (acting) =>
        answerJoinRequests(acting, jid, action, people),
      ),

    join: (invite) => run({ action: "group_join" }, (acting) => joinGroup(acting, invite)),

    leave: (jid) => run({ action: "group_leave", chat: jid }, (acting) => leaveGroup(acting, jid)),
  };
}
