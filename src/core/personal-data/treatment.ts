import { type RawBuilder, sql } from "kysely";
import { type ErasedPerson, isAddressOf } from "./erased-person.ts";

/** The parts of an anonymisation; a scope selects some of them. */
export type AnonymisationPart = "account" | "messages" | "leads" | "conversations";

/** The requested parts, and the request that determines the pseudonyms. */
export interface AnonymisationRequest {
  request: number;
  parts: ReadonlySet<AnonymisationPart>;
  /** Set if it concerns one person: other addresses stay. */
  person?: ErasedPerson | undefined;
}

/** How a personal column is treated when one of its parts is requested. */
export interface Treatment {
  readonly parts: readonly AnonymisationPart[];
  readonly to: (column: string, request: AnonymisationRequest) => RawBuilder<unknown>;
}

/** The assignments of the update statement. */
export function assignments(
  data: { readonly personal?: Readonly<Record<string, Treatment>> },
  request: AnonymisationRequest,
): RawBuilder<unknown> | undefined {
  const changed = Object.entries(data.personal ?? {}).filter(([, { parts }]) =>
    parts.some((part) => request.parts.has(part)),
  );
  if (changed.length === 0) return undefined;
  return sql.join(changed.map(([column, { to }]) => sql`${sql.ref(column)} = ${to(column, request)}`));
}

/** Sets the column to null. */
export function eraseValue(...parts: AnonymisationPart[]): Treatment {
  return { parts, to: () => sql`null` };
}

/** Sets the same value in every row. */
export function replaceWith(value: RawBuilder<unknown>, ...parts: AnonymisationPart[]): Treatment {
  return { parts, to: () => value };
}

/** Replaces a text with one word. */
export function reworded(...parts: AnonymisationPart[]): Treatment {
  return replaceWith(sql`'anonymized'`, ...parts);
}

/** Replaces an object with an empty one. */
export function emptied(...parts: AnonymisationPart[]): Treatment {
  return replaceWith(sql`'{}'::jsonb`, ...parts);
}

/** A phone, a JID or a LID: one request gives the same person the same pseudonym everywhere. */
export function pseudonymousAddress(...parts: AnonymisationPart[]): Treatment {
  return { parts, to: (column, request) => pseudonym(request, sql.ref(column)) };
}

/** A name that consists of the row's number. */
export function numberedName(...parts: AnonymisationPart[]): Treatment {
  return { parts, to: () => sql`'anon-' || id` };
}

/** Treats addresses only, and leaves the other values of the column. */
export function pseudonymousAddressIfAny(...parts: AnonymisationPart[]): Treatment {
  const to: Treatment["to"] = (column, request) =>
    sql`case when ${sql.ref(column)} like '%@%' then ${pseudonym(request, sql.ref(column))} else ${sql.ref(column)} end`;
  return { parts, to };
}

export function pseudonym(
  { request, person }: AnonymisationRequest,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const name = sql`pseudonym_of(${request}, ${value})`;
  return person ? sql`case when ${isAddressOf(value, person)} then ${name} else ${value} end` : name;
}

/** The sender: a pseudonym if the conversations are anonymised too, else null. */
export const SENDER_TREATMENT: Treatment = {
  parts: ["messages"],
  to: (column, request) => {
    if (!request.parts.has("conversations")) return sql`null`;
    const of = (field: string) => pseudonym(request, sql`${sql.ref(column)} ->> ${sql.lit(field)}`);
    return sql`case when ${sql.ref(column)} is not null then jsonb_build_object(
      'jid', ${of("jid")}, 'lid', ${of("lid")}, 'phone', ${of("phone")}, 'push_name', null) end`;
  },
};

/** Retains only the kind of a message and its approximate length. */
export const CONTENT_TREATMENT: Treatment = {
  parts: ["messages"],
  to: (column) => {
    const content = sql.ref(column);
    return sql`case when ${content} ? 'anonymized_at' then ${content} else
      jsonb_build_object('kind', ${content} -> 'kind', 'anonymized_at', now(), 'length', ${lengthClass(content)})
      || case ${content} ->> 'kind'
        when 'text' then '{"text": null}'::jsonb
        when 'media' then jsonb_build_object('media_type', ${content} -> 'media_type', 'size', ${content} -> 'size',
          'mime_type', split_part(${content} ->> 'mime_type', ';', 1))
        when 'location' then '{"latitude": 0, "longitude": 0}'::jsonb
        when 'contact' then '{"name": "", "phone": ""}'::jsonb
        else '{}'::jsonb end end`;
  },
};

function lengthClass(content: RawBuilder<unknown>): RawBuilder<unknown> {
  const length = sql`char_length(coalesce(${content} ->> 'text', ${content} ->> 'caption', ''))`;
  return sql`(array['0', '1-20', '21-100', '101-500', '501-2000', '2001-'])
    [1 + width_bucket(${length}, array[1, 21, 101, 501, 2001])]`;
}

/** Retains the gateway's error code; the text may come from the network. */
export const ERROR_TREATMENT: Treatment = {
  parts: ["messages"],
  to: (column) => sql`case when ${sql.ref(column)} is not null
    then ${sql.ref(column)} || jsonb_build_object('message', ${sql.ref(column)} -> 'code') end`,
};

/** The result can still be delivered again, under its own id and number. */
export const EVENT_BODY_TREATMENT: Treatment = {
  parts: ["messages", "account"],
  to: (column, { parts }) => {
    const body = sql`convert_from(${sql.ref(column)}, 'UTF8')::json`;
    if (!parts.has("messages")) return renamed(body);
    const retained = [
      "event_id",
      "event",
      "tenant_id",
      "instance_id",
      "timestamp",
      "source",
      "version",
      "sequence",
    ];
    const fields = [...retained, "account_id"].map(
      (name) => sql`${sql.lit(name)}, ${body} -> ${sql.lit(name)}`,
    );
    return sql`convert_to(json_build_object(${sql.join(fields)},
      'instance', json_build_object('id', instance_id, 'name', '', 'phone', null, 'metadata', '{}'::json),
      'data', json_build_object('anonymized', true))::text, 'UTF8')`;
  },
};

/** The same body with the instance's number as its name; all other values stay as they were written. */
function renamed(body: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`convert_to((
    select json_object_agg(key, case when key = 'instance' then json_build_object(
      'id', instance_id, 'name', 'anon-' || instance_id, 'phone', value -> 'phone', 'metadata', '{}'::json)
      else value end)
    from json_each(${body}))::text, 'UTF8')`;
}
