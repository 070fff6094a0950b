import { type Selectable, sql } from "kysely";
import { type FindCountry, type NumberResolver, resolveForInstance } from "../../core/contacts/contacts.ts";
import { getInstance, type InstanceRow } from "../../core/instances/instances.ts";
import { selectMessages } from "../../core/messages/messages.ts";
import type { RunSessionOperation } from "../../core/session-operations/session-operations.ts";
import type { Jid, MessageId } from "../../network/driver.ts";
import type { Label, LabelAssignment } from "../../network/session-operations.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { newestById, readPage } from "../../platform/http/input/pagination.ts";
import type { LabelTable } from "../../tables.ts";
import type { labelsContract } from "./contract.ts";
import { type LabelChangeDeps, type LabelEvent, recordLabelChange } from "./record-label-change.ts";

export interface LabelDeps extends LabelChangeDeps {
  numbers: NumberResolver;
  findCountry: FindCountry;
  runOperation: RunSessionOperation;
}

type LabelHandlers = Handlers<typeof labelsContract>;
type LabelRow = Selectable<LabelTable>;

const NEWEST = newestById(sql`t.id`);

export function labelHandlers(deps: LabelDeps): LabelHandlers {
  return { ...editHandlers(deps), ...chatHandlers(deps), ...messageHandlers(deps) };
}

type Edits = "listLabels" | "createLabel" | "updateLabel" | "deleteLabel";

function editHandlers(deps: LabelDeps): Pick<LabelHandlers, Edits> {
  const { db, runOperation } = deps;
  const save = async (owner: InstanceRow, label: Label, is_deleted: boolean) => {
    await runOperation(owner.id, ({ labels }) => (is_deleted ? labels.delete(label) : labels.save(label)));
    await recordLabelChange(deps, owner, { type: "label_changed", label, is_deleted }, "api");
    return label;
  };
  return {
    async listLabels({ input: { id, refresh, ...page } }) {
      const owner = await getInstance(db, id);
      if (refresh) await readAgain(deps, owner);
      const { rows, pagination } = await readPage(
        page,
        async ({ limit, cursor }) => {
          const found = await sql<Label & { row: number; chats: number; messages: number }>`
            select t.id as row, t.label_id as id, t.name, t.color, k.chats, k.messages from label t
            cross join lateral (
              select count(*) filter (where message_id is null)::float8 as chats,
                count(message_id)::float8 as messages from labelled where label = t.id) k
            where t.instance_id = ${id} and t.me = ${owner.jid} and not t.is_deleted and t.name is not null
              and ${NEWEST.after(cursor)}
            order by ${NEWEST.by} limit ${limit}`.execute(db);
          return found.rows;
        },
        ({ row }) => row,
      );
      return new OkResponse(rows, { beside: { pagination } });
    },

    async createLabel({ input: { id, name, color } }) {
      const owner = await getInstance(db, id);
      return save(owner, { id: await reserveId(deps, owner), name, color }, false);
    },

    async updateLabel({ input: { id, labelId, name, color } }) {
      if (name === undefined && color === undefined)
        throw invalidField("name", "one of name and color is required", "one_of_required", {
          fields: "name, color",
        });
      const owner = await getInstance(db, id);
      const known = toLabel(await getLabel(deps, owner, labelId));
      return save(owner, { ...known, ...(name && { name }), ...(color !== undefined && { color }) }, false);
    },

    async deleteLabel({ input: { id, labelId } }) {
      const owner = await getInstance(db, id);
      await save(owner, toLabel(await getLabel(deps, owner, labelId)), true);
      return { id: labelId };
    },
  };
}

function chatHandlers(deps: LabelDeps): Pick<LabelHandlers, "listLabelledChats" | "labelChat"> {
  return {
    listLabelledChats: ({ input }) => listLabelled(deps, input, sql`t.message_id is null`),

    async labelChat({ input: { id, labelId, number, phone, jid: named, labelled } }) {
      const owner = await getInstance(deps.db, id);
      const target = await resolveForInstance(deps.findCountry, id, { number, phone, jid: named });
      const { label_id } = await getLabel(deps, owner, labelId);
      const address = await deps.conversations.addressOf(id, target.jid);
      const chat = await deps.numbers.resolve(owner, address);
      await assign(deps, owner, { label_id, chat, message_id: null, labelled });
      return { jid: chat, labelled };
    },
  };
}

function messageHandlers(deps: LabelDeps): Pick<LabelHandlers, "listLabelledMessages" | "labelMessage"> {
  return {
    listLabelledMessages: ({ input }) => listLabelled(deps, input, sql`t.message_id is not null`),

    async labelMessage({ input: { id, labelId, message_id, jid, labelled } }) {
      const owner = await getInstance(deps.db, id);
      const { label_id } = await getLabel(deps, owner, labelId);
      const chat = await findChatOf(deps, id, message_id, jid);
      await assign(deps, owner, { label_id, chat, message_id: message_id as MessageId, labelled });
      return { jid: chat, message_id, labelled };
    },
  };
}

async function assign(deps: LabelDeps, owner: InstanceRow, assignment: LabelAssignment): Promise<void> {
  await deps.runOperation(owner.id, ({ labels }) => labels.assign(assignment));
  await recordLabelChange(deps, owner, { type: "label_assigned", ...assignment }, "api");
}

/** The chat of a logged message; a group message has the same id in every log, so one log may have it twice. */
async function findChatOf(
  { db, conversations }: LabelDeps,
  id: number,
  message_id: string,
  named: string | undefined,
): Promise<Jid> {
  const rows = await selectMessages(db)
    .where("m.instance_id", "=", id)
    .where("m.message_id", "=", message_id)
    .execute();
  const address = named === undefined ? undefined : await conversations.addressOf(id, named as Jid);
  const jids = new Set(rows.map((row) => row.jid).filter((jid) => address === undefined || jid === address));
  const [jid] = jids;
  if (!jid) throw new GatewayError("MESSAGE_NOT_FOUND", "The message is not in the log.");
  if (jids.size > 1) throw invalidField("jid", "is required: several chats have this message", "missing");
  return jid;
}

async function listLabelled(
  deps: LabelDeps,
  { id, labelId, ...page }: { id: number; labelId: string; limit: number; cursor?: string | undefined },
  which: ReturnType<typeof sql>,
) {
  const owner = await getInstance(deps.db, id);
  const label = await getLabel(deps, owner, labelId);
  const { rows, pagination } = await readPage(
    page,
    async ({ limit, cursor }) => {
      const found = await sql<LabelledView>`
        select t.id, coalesce(c.jid, t.jid) as jid, c.lid, coalesce(c.phone, p.phone) as phone, t.message_id, t.created_at
        from labelled t
        left join lateral (select * from contact where instance_id = t.instance_id
          and (jid = t.jid or lid = t.jid) order by jid = t.jid desc limit 1) c on true
        left join lateral (select split_part(t.jid, '@', 1) as phone where t.jid like '%@s.whatsapp.net') p on true
        where t.label = ${label.id} and ${which} and ${NEWEST.after(cursor)}
        order by ${NEWEST.by} limit ${limit}`.execute(deps.db);
      return found.rows;
    },
    (row) => row.id,
  );
  return new OkResponse(rows, { beside: { pagination } });
}

interface LabelledView {
  id: number;
  jid: string;
  lid: string | null;
  phone: string | null;
  message_id: string;
  created_at: Date;
}

async function getLabel({ db }: LabelDeps, owner: InstanceRow, labelId: string): Promise<LabelRow> {
  const row = await db
    .selectFrom("label")
    .selectAll()
    .where("instance_id", "=", owner.id)
    .where("me", "=", owner.jid)
    .where("label_id", "=", labelId)
    .where("is_deleted", "=", false)
    .executeTakeFirst();
  if (!row) throw new GatewayError("NOT_FOUND", "There is no such label.");
  return row;
}

function toLabel({ label_id: id, name, color }: LabelRow): Label {
  return { id, name: name ?? "", color: color ?? 0 };
}

/** Reads all labels of the phone, and forgets those that it no longer has. */
async function readAgain(deps: LabelDeps, owner: InstanceRow): Promise<Label[]> {
  const labels = await deps.runOperation(owner.id, (session) => session.labels.list());
  for (const label of labels) await record(deps, owner, { type: "label_changed", label, is_deleted: false });
  return labels;
}

function record(deps: LabelDeps, owner: InstanceRow, event: LabelEvent): Promise<void> {
  return recordLabelChange(deps, owner, event, "phone");
}

/**
 * A free id: the next one, as phones choose it. It is kept for this label, which stays deleted until the phone has it.
 * Throws CONFLICT if another request has just taken it.
 */
async function reserveId(deps: LabelDeps, owner: InstanceRow): Promise<string> {
  const known = await deps.db
    .selectFrom("label")
    .select("id")
    .where("instance_id", "=", owner.id)
    .where("me", "=", owner.jid)
    .limit(1)
    .execute();
  // A session that is older than the stored labels has not reported them.
  if (known.length === 0) await readAgain(deps, owner);
  const { rows } = await sql<{ label_id: string }>`
    insert into label (account_id, instance_id, me, label_id, is_deleted)
    select ${owner.account_id}, ${owner.id}, ${owner.jid},
      (coalesce(max(label_id::bigint) filter (where label_id ~ '^[0-9]{1,9}$'), 0) + 1)::text, true
    from label where instance_id = ${owner.id} and me = ${owner.jid}
    on conflict do nothing returning label_id`.execute(deps.db);
  const [row] = rows;
  if (!row) throw new GatewayError("CONFLICT", "Another label is being created. Try again.");
  return row.label_id;
}
