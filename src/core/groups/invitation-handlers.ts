import type { Jid } from "../../network/driver.ts";
import type { Db } from "../../platform/db/database.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";
import { getInstance } from "../instances/instances.ts";
import type { RunSessionOperation } from "../session-operations/session-operations.ts";
import type { groupsContract } from "./contract.ts";
import {
  type ParticipantDeps,
  resolveParticipants,
  toMember,
  toParticipantResultView,
} from "./participants.ts";
import { applyGroupUpdate, markGroupListStale } from "./save-groups.ts";

export interface InvitationDeps extends ParticipantDeps {
  db: Db;
  runOperation: RunSessionOperation;
}

type Invitation =
  | "getGroupInvite"
  | "revokeGroupInvite"
  | "previewGroup"
  | "joinGroup"
  | "listJoinRequests"
  | "answerJoinRequests";

const REASONS = { 404: "has not asked to join the group", 419: "the group is full" };

/** How people come into a group: its invitation link, and requests that an admin approves. */
export function invitationHandlers(deps: InvitationDeps): Pick<Handlers<typeof groupsContract>, Invitation> {
  const { db, runOperation } = deps;
  return {
    async getGroupInvite({ input: { id, jid } }) {
      const code = await runOperation(id, (session) => session.groups.invite(jid as Jid));
      return { jid, ...toInvitation(code) };
    },

    async revokeGroupInvite({ input: { id, jid } }) {
      const code = await runOperation(id, (session) => session.groups.revokeInvite(jid as Jid));
      return { jid, ...toInvitation(code) };
    },

    async previewGroup({ input: { id, code } }) {
      const preview = await runOperation(id, (session) => session.groups.preview(code));
      const { subject, ...group } = cleanFromNetwork(preview);
      return { ...group, name: subject, subject };
    },

    async joinGroup({ input: { id, code } }) {
      const jid = await runOperation(id, (session) => session.groups.join(code));
      await markGroupListStale(db, id);
      return { jid };
    },

    async listJoinRequests({ input: { id, jid, limit, cursor } }) {
      const from = readCursor(cursor) ?? 0;
      const requests = cleanFromNetwork(
        await runOperation(id, (session) => session.groups.requests(jid as Jid)),
      );
      // The network returns all of them.
      const page = requests.slice(from, from + limit + 1);
      const { rows, pagination } = toPage(page, limit, (row) => requests.indexOf(row) + 1);
      const shown = rows.map(({ who, ...request }) => ({ ...who, ...request }));
      return new OkResponse(shown, { beside: { pagination } });
    },

    async answerJoinRequests({ input: { id, jid, action, participants } }) {
      const owner = await getInstance(db, id);
      const group = jid as Jid;
      const people = await resolveParticipants(deps, owner, participants);
      const answered = await runOperation(id, (session) =>
        session.groups.updateRequests(group, action, people),
      );
      const results = answered.map((one) => toParticipantResultView(one, REASONS));
      const who = results.filter(({ success }) => success).map((one) => toMember(one.jid as Jid));
      if (action === "approve" && who.length > 0) {
        const participants = { action: "add" as const, who };
        await db.transaction().execute((trx) => applyGroupUpdate(trx, owner, group, { participants }));
      }
      return results;
    },
  };
}

function toInvitation(code: string) {
  return { code, url: `https://chat.whatsapp.com/${code}` };
}
