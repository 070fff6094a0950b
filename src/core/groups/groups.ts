import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { Engine } from "../../engine/engine.ts";
import type { Jid, NetworkEvent, Session } from "../../network/driver.ts";
import type { GroupChange } from "../../network/groups.ts";
import { type Db, readDatabaseTime } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { newestById, readPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { maxEntries } from "../../platform/limits/max-entries.ts";
import type { Log } from "../../platform/log/log.ts";
import { toSquareImage } from "../../platform/media/to-square-image.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";
import { type EventTag, recordEvents } from "../events/events.ts";
import { getInstance } from "../instances/instances.ts";
import { type PictureInput, type PictureSource, readPicture } from "../messages/messages.ts";
import { changeGroupSettings } from "./change-group-settings.ts";
import type { groupsContract } from "./contract.ts";
import { createGroupReader, createRateLimitedQuery, type GroupReader } from "./group-reader.ts";
import { type InvitationDeps, invitationHandlers } from "./invitation-handlers.ts";
import { resolveParticipants, toMember, toParticipantResultView } from "./participants.ts";
import {
  applyGroupUpdate,
  deleteGroup,
  type GroupInstance,
  type GroupRow,
  saveGroups,
} from "./save-groups.ts";

export { recordJoinRequests } from "./record-join-requests.ts";

const NEWEST = newestById(sql`id`);

/** In addition to the customers' own queries. */
const PER_MINUTE = 10;

const REMEMBERED = 50_000;

const REMEMBERED_MS = 3_600_000;

interface GroupFetcherDeps {
  db: Db;
  log: Log;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
}

export interface GroupDeps extends PictureSource, InvitationDeps {}

type GroupHandlers = Handlers<typeof groupsContract>;

export function groupHandlers(deps: GroupDeps): GroupHandlers {
  const reader = createGroupReader(deps);
  return {
    ...readHandlers(deps, reader),
    ...memberHandlers(deps, reader),
    ...changeHandlers(deps),
    ...invitationHandlers(deps),
  };
}

function readHandlers(
  { db }: GroupDeps,
  reader: GroupReader,
): Pick<GroupHandlers, "listGroups" | "getGroup"> {
  return {
    async listGroups({ input: { id, q, refresh, participants, ...page } }) {
      const refreshed_at = await reader.prepareList(await getInstance(db, id), refresh);
      const query = db
        .selectFrom("group_chat")
        .selectAll()
        .where("instance_id", "=", id)
        .where(containsText(q, sql`subject, description, jid`));
      const { rows, pagination } = await readPage(
        page,
        async ({ limit, cursor }) => {
          const found = await query.where(NEWEST.after(cursor)).orderBy(NEWEST.by).limit(limit).execute();
          return found.map((row) => ({
            ...toGroupView(row, { withParticipants: participants }),
            id: row.id,
          }));
        },
        (row) => row.id,
      );
      return new OkResponse(rows, { beside: { pagination, refreshed_at } });
    },

    async getGroup({ input: { id, jid, refresh } }) {
      return toGroupView(await reader.getGroup(await getInstance(db, id), jid as Jid, refresh));
    },
  };
}

function memberHandlers(
  deps: GroupDeps,
  reader: GroupReader,
): Pick<GroupHandlers, "createGroup" | "updateGroupParticipants" | "leaveGroup"> {
  const { db, runOperation } = deps;
  return {
    async createGroup({ input: { id, name, participants, description } }) {
      const owner = await getInstance(db, id);
      const participantJids = await resolveParticipants(deps, owner, participants);
      const made = await runOperation(id, (session) => session.groups.create(name, participantJids));
      const { jid } = made.group;
      await saveGroups(db, owner, [made.group]);
      const changes = description ? [{ description }] : [];
      const { errors } = await changeGroupSettings(deps, owner, jid, changes);
      const group = toGroupView(await reader.getGroup(owner, jid, false));
      return { ...group, results: made.results.map((one) => toParticipantResultView(one)), errors };
    },

    async updateGroupParticipants({ input: { id, jid, action, participants } }) {
      const owner = await getInstance(db, id);
      const group = jid as Jid;
      const participantJids = await resolveParticipants(deps, owner, participants);
      const changing = runOperation(id, (session) =>
        session.groups.updateParticipants(group, action, participantJids),
      );
      const results = (await changing).map((one) => toParticipantResultView(one));
      const who = results.filter(({ success }) => success).map((one) => toMember(one.jid));
      const change = { participants: { action, who } };
      if (who.length > 0)
        await db.transaction().execute((trx) => applyGroupUpdate(trx, owner, group, change));
      return results;
    },

    async leaveGroup({ input: { id, jid } }) {
      await runOperation(id, (session) => session.groups.leave(jid as Jid));
      await deleteGroup(db, id, jid);
      return { jid };
    },
  };
}

function changeHandlers(deps: GroupDeps): Pick<GroupHandlers, "updateGroupSettings"> {
  return {
    async updateGroupSettings({ input }) {
      const owner = await getInstance(deps.db, input.id);
      const changes = await readChanges(deps, input);
      const { refusals, ...result } = await changeGroupSettings(deps, owner, input.jid as Jid, changes);
      const [refusal] = refusals;
      if (refusal && result.applied.length === 0) {
        const { code, message, retryAfterSeconds } = refusal;
        throw new GatewayError(code, message, { details: { ...result }, retryAfterSeconds });
      }
      const reply = { jid: input.jid, ...result };
      return refusal ? new OkResponse(reply, { message: "Some settings were refused" }) : reply;
    },
  };
}

/** Rejects an invalid image before anything is changed. */
async function readChanges(
  deps: GroupDeps,
  input: InputOf<typeof groupsContract.updateGroupSettings>,
): Promise<GroupChange[]> {
  const { name, description, image, announce, locked, join_approval, members_can_add } = input;
  return [
    ...(name === undefined ? [] : [{ subject: name }]),
    ...(description === undefined ? [] : [{ description }]),
    ...(image === undefined ? [] : [{ image: await readImage(deps, input.id, image) }]),
    ...(announce === undefined ? [] : [{ announce }]),
    ...(locked === undefined ? [] : [{ locked }]),
    ...(join_approval === undefined ? [] : [{ join_approval }]),
    ...(members_can_add === undefined ? [] : [{ members_can_add }]),
  ];
}

async function readImage(
  deps: GroupDeps,
  instance_id: number,
  image: PictureInput | null,
): Promise<Uint8Array | null> {
  return image === null
    ? null
    : toSquareImage(await readPicture(deps, { instance_id }, "image", image), "image");
}

/** Stores the group as the network reports it, and records the event unless the instance ignores groups. */
export async function recordGroupChange(
  { db, engine }: { db: Db; engine: Pick<Engine, "wake"> },
  owner: GroupInstance,
  { group: jid, at, change }: Extract<NetworkEvent, { type: "group_updated" }>,
  { ignore_groups }: { ignore_groups: boolean },
): Promise<void> {
  const { by, ...changed } = cleanFromNetwork(change);
  const data = { jid, at: at.toISOString(), by: by ?? null, change: changed };
  const lanes = await db.transaction().execute(async (trx) => {
    await applyGroupUpdate(trx, owner, jid, change);
    if (ignore_groups) return [];
    const tags: EventTag[] = ["groups"];
    return recordEvents(trx, [{ event: "group.updated", instance_id: owner.id, chat: jid, tags, data }]);
  });
  engine.wake(lanes);
}

/** A group as responses show it. */
function toGroupView(row: GroupRow, { withParticipants = true } = {}) {
  const { jid, subject, description, owner, participants } = row;
  const { announce, locked, join_approval, members_can_add } = row;
  return {
    jid,
    name: subject,
    subject,
    description,
    owner,
    size: participants.length,
    announce,
    locked,
    join_approval,
    members_can_add,
    created_at: row.group_created_at,
    participants: withParticipants ? participants : [],
    refreshed_at: row.read_at,
  };
}

/**
 * Returns a function to call for every chat in a group. It asks the network once about an unknown group, so
 * that its conversation has a name. This runs in the background, and a failure is retried with a later
 * message.
 */
export function createGroupFetcher({ db, log, connectedSession }: GroupFetcherDeps) {
  const seen = new LRUCache<string, true>({ ...maxEntries(REMEMBERED), ttl: REMEMBERED_MS });
  const query = createRateLimitedQuery(PER_MINUTE);

  async function fetchGroup(owner: GroupInstance, jid: Jid): Promise<boolean> {
    if (await isKnown(db, owner.id, jid)) return true;
    const requestedAt = await readDatabaseTime(db);
    const result = await connectedSession(owner.id)?.groups?.get(jid);
    if (result?.outcome === "done") await saveGroups(db, owner, [result.value], requestedAt);
    return result?.outcome === "done" || result?.outcome === "refused";
  }

  return (owner: GroupInstance, jid: Jid): void => {
    const key = `${owner.id} ${jid}`;
    if (seen.has(key)) return;
    seen.set(key, true);
    query(owner.id, jid, async () => {
      if (!(await fetchGroup(owner, jid))) seen.delete(key);
    }).catch((error: unknown) => {
      seen.delete(key);
      log.debug({ err: error, instance_id: owner.id }, "group metadata could not be fetched");
    });
  };
}

async function isKnown(db: Db, instanceId: number, jid: Jid): Promise<boolean> {
  const row = await db
    .selectFrom("group_chat")
    .select("id")
    .where("instance_id", "=", instanceId)
    .where("jid", "=", jid)
    .executeTakeFirst();
  return row !== undefined;
}
