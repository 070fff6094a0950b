import { type Kysely, type RawBuilder, sql } from "kysely";

/**
 * Gives every account its own sandbox network. Rows that an older node still writes belong to the unused
 * account 0, and its tables of people and chats stay unchanged, since it refers to their keys.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // In the order in which a send locks them.
  await sql`
    lock table sandbox.device, sandbox.group_chat, sandbox.group_member, sandbox.message, sandbox.media`.execute(
    db,
  );
  await changeDevices(db);
  await changeKeys(db);
  await createTables(db);
  await assignRows(db);
  await copyPeople(db);
}

/** The numbers that are paired now, and the accounts that have them. */
const PAIRED = sql`
  (select distinct account_id, phone from instance where network = 'sandbox' and phone is not null)`;

/** A device whose number several accounts have is claimed at its next login, by the instance with its credentials. */
async function changeDevices(db: Kysely<unknown>): Promise<void> {
  await sql`alter table sandbox.device add column account_id bigint`.execute(db);
  await sql`alter table sandbox.pairing add column account_id bigint`.execute(db);
  await sql`drop index sandbox.device_phone`.execute(db);
  await sql`
    create index device_phone on sandbox.device (phone, account_id)
    where linked_at is not null and unlinked_at is null`.execute(db);
  await sql`
    update sandbox.device d set account_id = p.account_id
    from (select phone, min(account_id) as account_id from ${PAIRED} p group by phone having count(*) = 1) p
    where p.phone = d.phone`.execute(db);
}

/** The account comes last in each key, so that the statements of an older version still find their rows by index. */
async function changeKeys(db: Kysely<unknown>): Promise<void> {
  await sql`alter table sandbox.group_member drop constraint group_member_group_jid_fkey`.execute(db);
  await sql`alter table sandbox.group_chat drop constraint group_chat_invite_key`.execute(db);
  for (const [table, key] of [
    ["message", "phone, id"],
    ["media", "id"],
    ["group_chat", "jid"],
    ["group_member", "group_jid, phone"],
  ] as const) {
    const [name, columns] = [sql.table(`sandbox.${table}`), sql.raw(key)];
    await sql`
      alter table ${name} drop constraint ${sql.ref(`${table}_pkey`)},
        add column account_id bigint not null default 0`.execute(db);
    await sql`alter table ${name} add primary key (${columns}, account_id)`.execute(db);
  }
  await sql`create unique index group_chat_invite on sandbox.group_chat (invite, account_id)`.execute(db);
}

async function createTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sandbox.person (
      account_id bigint not null,
      phone text not null,
      name text,
      about text,
      picture text,
      verified_name text,
      business jsonb,
      primary key (account_id, phone)
    )`.execute(db);
  await sql`
    create table sandbox.address_book (
      account_id bigint not null,
      owner text not null,
      phone text not null,
      name text,
      known text not null default 'both',
      is_blocked boolean not null default false,
      primary key (account_id, owner, phone)
    )`.execute(db);
  await sql`
    create table sandbox.chat_state (
      account_id bigint not null,
      owner text not null,
      chat text not null,
      archived boolean not null default false,
      pinned boolean not null default false,
      muted_until timestamptz,
      unread boolean not null default false,
      primary key (account_id, owner, chat)
    )`.execute(db);
}

async function assignRows(db: Kysely<unknown>): Promise<void> {
  await assign(db, {
    ...{ table: "message", key: ["phone", "id"], columns: ["phone", "id", "chat", "body", "at"] },
    owners: sql`select p.account_id, m.phone, m.id from sandbox.message m join ${PAIRED} p on p.phone = m.phone`,
  });
  await assign(db, {
    ...{ table: "media", key: ["id"], columns: ["id", "bytes", "expires_at"] },
    owners: sql`
      select i.account_id, m.content #>> '{ref,media}' as id
      from message m join instance i on i.id = m.instance_id
      where i.network = 'sandbox' and m.content #> '{ref,media}' is not null
      union
      select d.account_id, b.body #>> '{content,ref,media}'
      from sandbox.mailbox b join sandbox.device d on d.id = b.device
      where d.account_id is not null and b.body #> '{content,ref,media}' is not null`,
  });
  await assign(db, {
    ...{ table: "group_chat", key: ["jid"] },
    columns: "jid subject description owner announce locked invite picture created_at".split(" "),
    owners: sql`
      select distinct p.account_id, m.group_jid as jid
      from sandbox.group_member m join ${PAIRED} p on p.phone = m.phone`,
  });
  await assign(db, {
    ...{ table: "group_member", key: ["group_jid", "phone"] },
    columns: ["group_jid", "phone", "admin", "seat"],
    owners: sql`
      select g.account_id, m.group_jid, m.phone
      from sandbox.group_member m join sandbox.group_chat g on g.jid = m.group_jid where g.account_id <> 0`,
  });
}

interface Assignment {
  table: string;
  key: string[];
  columns: string[];
  /** Which accounts have seen the row of each key. */
  owners: RawBuilder<unknown>;
}

/** A row that several accounts have seen becomes one row for each of them. */
async function assign(db: Kysely<unknown>, { table, key, columns, owners }: Assignment): Promise<void> {
  const name = sql.table(`sandbox.${table}`);
  const isSame = sql.raw(key.map((column) => `o.${column} = t.${column}`).join(" and "));
  await sql`
    with owned as (
      select *, row_number() over (partition by ${sql.raw(key.join(", "))} order by account_id) as nth
      from (${owners}) o
    ), copied as (
      insert into ${name} (${sql.raw(columns.join(", "))}, account_id) overriding system value
      select ${sql.raw(columns.map((column) => `t.${column}`).join(", "))}, o.account_id
      from ${name} t join owned o on ${isSame} and o.nth > 1
    )
    update ${name} t set account_id = o.account_id from owned o where ${isSame} and o.nth = 1`.execute(db);
}

async function copyPeople(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into sandbox.person (account_id, phone, name, about, picture, verified_name, business)
    select k.account_id, p.phone, p.name, p.about, p.picture, p.verified_name, p.business
    from sandbox.profile p
    join (
      select account_id, phone from ${PAIRED} own
      union
      select own.account_id, c.phone from sandbox.contact c join ${PAIRED} own on own.phone = c.owner
    ) k on k.phone = p.phone`.execute(db);
  await sql`
    insert into sandbox.address_book (account_id, owner, phone, name, known, is_blocked)
    select p.account_id, c.owner, c.phone, c.name, c.known, c.is_blocked
    from sandbox.contact c join ${PAIRED} p on p.phone = c.owner`.execute(db);
  await sql`
    insert into sandbox.chat_state (account_id, owner, chat, archived, pinned, muted_until, unread)
    select p.account_id, c.owner, c.chat, c.archived, c.pinned, c.muted_until, c.unread
    from sandbox.chat c join ${PAIRED} p on p.phone = c.owner`.execute(db);
}
