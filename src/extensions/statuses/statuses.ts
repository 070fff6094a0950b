import { sql } from "kysely";
import { type FindCountry, type NumberResolver, readAddress } from "../../core/contacts/contacts.ts";
import { getInstance, type InstanceRow } from "../../core/instances/instances.ts";
import {
  deleteOutgoing,
  loadOutgoingContent,
  type MediaOptions,
  readMedia,
} from "../../core/messages/messages.ts";
import type { RunSessionOperation } from "../../core/session-operations/session-operations.ts";
import type { Jid, MessageId, StatusContent } from "../../network/driver.ts";
import { newMessageId } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { newestById, readPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { MAX_AUDIENCE, type statusesContract } from "./contract.ts";

export interface StatusDeps extends MediaOptions {
  numbers: NumberResolver;
  findCountry: FindCountry;
  runOperation: RunSessionOperation;
}

type StatusInput = InputOf<typeof statusesContract.sendStatus>;

const STORIES = "status@broadcast";
const NEWEST = newestById(sql`t.id`);
const KEPT_DAYS = 30;
const SHOWN = ["image", "video", "ptt"];
const OPAQUE = 0xff000000;

type StatusHandlers = Handlers<typeof statusesContract>;

export function statusHandlers(deps: StatusDeps): StatusHandlers {
  const { db } = deps;
  return {
    ...listHandlers(db),

    async sendStatus({ input }) {
      const owner = await getInstance(db, input.id);
      requireOneContent(input);
      const audience = await resolveAudience(deps, owner, input.audience);
      const content = await readStatus(deps, owner, input);
      const message_id = newMessageId();
      const id = await saveStatus(db, owner, { message_id, content, input, audience: audience.length });
      const at = await send(deps, owner, { id, message_id, content, audience });
      return {
        id,
        message_id,
        jid: STORIES,
        status: "sent",
        timestamp: at,
        audience: audience.length,
      };
    },
  };
}

function listHandlers(db: Db): Pick<StatusHandlers, "listStatuses" | "listStatusViews"> {
  return {
    async listStatuses({ input: { id, ...page } }) {
      const { rows, pagination } = await readPage(
        page,
        async ({ limit, cursor }) => {
          const { rows } = await sql<StatusView>`
            select t.id, t.message_id, t.type, t.content ->> 'text' as text, t.content ->> 'caption' as caption,
              t.content ->> 'mime_type' as mime_type, t.content ->> 'background_color' as background_color,
              (t.content ->> 'font')::float8 as font, t.audience, t.sent_at, t.created_at,
              (select count(*)::float8 from status_view where status = t.id) as views
            from status_update t where t.instance_id = ${id} and ${NEWEST.after(cursor)}
            order by ${NEWEST.by} limit ${limit}`.execute(db);
          return rows;
        },
        (row) => row.id,
      );
      return new OkResponse(rows, { beside: { pagination } });
    },

    async listStatusViews({ input: { id, messageId, ...page } }) {
      const story = await db
        .selectFrom("status_update")
        .select("id")
        .where("instance_id", "=", id)
        .where("message_id", "=", messageId)
        .executeTakeFirst();
      if (!story) throw new GatewayError("NOT_FOUND", "There is no such story.");
      const { rows, pagination } = await readPage(
        page,
        ({ limit, cursor }) =>
          db
            .selectFrom("status_view as t")
            .select(["t.id", "jid", "lid", "phone", "viewed_at"])
            .where("status", "=", story.id)
            .where(NEWEST.after(cursor))
            .orderBy(NEWEST.by)
            .limit(limit)
            .execute(),
        (row) => row.id,
      );
      return new OkResponse(rows, { beside: { pagination } });
    },
  };
}

interface StatusView {
  id: number;
  message_id: string;
  type: string;
  text: string | null;
  caption: string | null;
  mime_type: string | null;
  background_color: string | null;
  font: number | null;
  audience: number;
  views: number;
  sent_at: Date | null;
  created_at: Date;
}

function requireOneContent({ text, url, base64, caption, background_color, font }: StatusInput): void {
  const given = [text, url, base64].filter((part) => part !== undefined).length;
  if (given !== 1)
    throw invalidField("text", "exactly one of text, url and base64 is required", "one_of_required", {
      fields: "text, url, base64",
    });
  if (text !== undefined && caption !== undefined)
    throw invalidField("caption", "is allowed only with a file", "not_allowed_here");
  if (text === undefined && (background_color !== undefined || font !== undefined))
    throw invalidField("background_color", "and font are allowed only with a text", "not_allowed_here");
}

/** Whom the story goes to. Throws VALIDATION_ERROR for nobody, for groups, and for too many people. */
async function resolveAudience(
  { db, numbers, findCountry }: StatusDeps,
  owner: InstanceRow,
  named: StatusInput["audience"],
): Promise<Jid[]> {
  if (named !== "contacts") {
    const country = await findCountry({ instance_id: owner.id }, named);
    const people = named.map((text) => readAddress("audience", text, country));
    if (people.some(({ type }) => type === "group"))
      throw invalidField("audience", "names a group: a story goes to people", "not_allowed_here");
    return [
      ...new Set(
        await numbers.resolveAll(
          owner,
          people.map(({ jid }) => jid),
        ),
      ),
    ];
  }
  const rows = await db
    .selectFrom("contact")
    .select("jid")
    .where("instance_id", "=", owner.id)
    .where("name", "is not", null)
    .where("is_blocked", "=", false)
    .limit(MAX_AUDIENCE + 1)
    .execute();
  if (rows.length === 0)
    throw invalidField("audience", "is nobody: the address book of the phone is empty or not known", "empty");
  if (rows.length > MAX_AUDIENCE)
    throw invalidField("audience", `has more than ${MAX_AUDIENCE} people: name them`, "too_many", {
      max: MAX_AUDIENCE,
    });
  return rows.map(({ jid }) => jid as Jid);
}

async function readStatus(deps: StatusDeps, owner: InstanceRow, input: StatusInput): Promise<StatusContent> {
  const { text, background_color, font, url, base64, type, mime_type, file_name, caption } = input;
  if (text !== undefined)
    return {
      kind: "text",
      text,
      ...(background_color && { background: OPAQUE + Number.parseInt(background_color.slice(1), 16) }),
      ...(font !== undefined && { font }),
    };
  const options = { ...deps, account_id: owner.account_id };
  const stored = await readMedia({ url, base64, type, mime_type, file_name, caption }, options);
  try {
    if (!SHOWN.includes(stored.media_type))
      throw invalidField("type", "must be an image, a video or a voice note (ptt)", "wrong_file_type", {
        expected: SHOWN.join(", "),
      });
    const content = await loadOutgoingContent(deps.db, stored);
    if (content?.kind !== "media") throw new Error("The file of a story is gone.");
    return content;
  } finally {
    if (stored.upload) await deleteOutgoing(deps.db, [stored.upload]);
  }
}

interface NewStatus {
  message_id: MessageId;
  content: StatusContent;
  input: StatusInput;
  audience: number;
}

/** Stored before the network has it, so that a view finds it. Deletes what is old. */
async function saveStatus(
  db: Db,
  { id: instance_id, account_id }: InstanceRow,
  { message_id, content, input: { text, caption, background_color, font }, audience }: NewStatus,
): Promise<number> {
  await sql`delete from status_update where instance_id = ${instance_id}
    and created_at < now() - ${KEPT_DAYS} * interval '1 day'`.execute(db);
  const isMedia = content.kind === "media";
  const shown = { text, caption, background_color, font, ...(isMedia && { mime_type: content.mime_type }) };
  const { id } = await db
    .insertInto("status_update")
    .values({
      account_id,
      instance_id,
      message_id,
      type: isMedia ? content.media_type : "text",
      content: JSON.stringify(shown),
      audience,
      sent_at: null,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

interface PendingStatus {
  id: number;
  message_id: MessageId;
  content: StatusContent;
  audience: readonly Jid[];
}

/** A story that was certainly not sent leaves no row. */
async function send(
  { db, runOperation }: StatusDeps,
  owner: InstanceRow,
  { id, message_id, content, audience }: PendingStatus,
): Promise<Date> {
  try {
    const sent_at = await runOperation(owner.id, ({ statuses }) =>
      statuses.send(content, audience, message_id),
    );
    await db.updateTable("status_update").set({ sent_at }).where("id", "=", id).execute();
    return sent_at;
  } catch (error) {
    if (!(error instanceof GatewayError && error.code === "SEND_TIMEOUT"))
      await db.deleteFrom("status_update").where("id", "=", id).execute();
    throw error;
  }
}
