import type { GroupCalls } from "../calls.ts";
import { type Ask, done, refuse } from "./acting.ts";
import {
  changeGroup,
  changeParticipants,
  createGroup,
  joinGroup,
  leaveGroup,
  problemOf,
  shown,
} from "./group-acts.ts";
import { toGroup } from "./group-letter.ts";
import { enterGroup, findGroupsOf, isRefused } from "./groups.ts";

export function groupCalls(ask: Ask): GroupCalls {
  return {
    list: () =>
      ask({ action: "groups" }, async (acting) => {
        const groups = await findGroupsOf(acting, acting.me.phone);
        return done(groups.map((group) => toGroup(shown(group))));
      }),

    get: (jid) =>
      ask({ action: "group", chat: jid }, async (acting) => {
        const group = await enterGroup(acting, jid);
        return isRefused(group) ? group : done(toGroup(shown(group)));
      }),

    create: (subject, people) =>
      ask({ action: "group_create" }, async (acting) => {
        const problem = problemOf({ subject });
        if (problem) return refuse("VALIDATION_ERROR", problem);
        const { group, results } = await createGroup(acting, subject, people);
        return done({ group: toGroup(group), results });
      }),

    updateParticipants: (jid, action, people) =>
      ask({ action: `group_${action}`, chat: jid }, (acting) =>
        changeParticipants(acting, jid, action, people),
      ),

    update: (jid, change) =>
      ask({ action: "group_update", chat: jid }, (acting) => changeGroup(acting, jid, change)),

    invite: (jid) =>
      ask({ action: "group_invite", chat: jid }, async (acting) => {
        const group = await enterGroup(acting, jid, { asAdmin: true });
        return isRefused(group) ? group : done(group.invite);
      }),

    join: (invite) => ask({ action: "group_join" }, (acting) => joinGroup(acting, invite)),

    leave: (jid) => ask({ action: "group_leave", chat: jid }, (acting) => leaveGroup(acting, jid)),
  };
}
