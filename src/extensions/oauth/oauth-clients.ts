import { randomBytes } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { parseIp, withoutIpv4Mapping } from "../../platform/outgoing/ip-address.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { createClientDocuments, isClientUrl } from "./client-documents.ts";
import { type ClientMetadata, parseClientMetadata } from "./client-metadata.ts";
import { OAuthError } from "./oauth-error.ts";

const MOST_CLIENTS = 5_000;
const REGISTERED_ID = /^oac_[\w-]{22}$/;
/** Advisory lock: counts and insertions of registrations happen one after the other. */
const REGISTRATION_LOCK = 6_402_175;

export interface OAuthClient extends ClientMetadata {
  id: string;
}

/** The applications that may ask a user for access. All are public clients: none has a secret. */
export interface OAuthClients {
  /** Throws invalid_client. */
  get(id: string): Promise<OAuthClient>;
  /** Registers a client (RFC 7591). `ip`: of the request. */
  register(metadata: unknown, ip: string): Promise<OAuthClient & { created_at: Date }>;
  /** Throws invalid_client for an id that no registration returned; an URL is accepted without reading it. */
  requireKnown(id: string): Promise<void>;
}

export function createOAuthClients(db: Db, outgoing: Pick<SafeFetch, "fetch">): OAuthClients {
  const documents = createClientDocuments(outgoing);
  return {
    async get(id) {
      if (isClientUrl(id)) return { id, ...(await documents.get(id)) };
      const registered = await touch(db, id);
      if (!registered) throw unknownClient();
      return registered;
    },
    async register(metadata, ip) {
      const { name, redirect_uris } = parseClientMetadata(metadata);
      return db.transaction().execute(async (trx) => {
        await makeRoom(trx);
        const id = `oac_${randomBytes(16).toString("base64url")}`;
        return trx
          .insertInto("oauth_client")
          .values({ id, name, redirect_uris, network: wideNetworkOf(ip) })
          .returning(["id", "name", "redirect_uris", "created_at"])
          .executeTakeFirstOrThrow();
      });
    },
    async requireKnown(id) {
      if (!isClientUrl(id) && !(await touch(db, id))) throw unknownClient();
    },
  };
}

function unknownClient(): OAuthError {
  return new OAuthError("invalid_client", "The gateway does not know this client. Register it again.");
}

/** The registered client; its use is recorded. */
async function touch(db: Db, id: string): Promise<OAuthClient | undefined> {
  if (!REGISTERED_ID.test(id)) return undefined;
  return db
    .updateTable("oauth_client")
    .set({ last_used_at: sql<Date>`now()` })
    .where("id", "=", id)
    .returning(["id", "name", "redirect_uris"])
    .executeTakeFirst();
}

/** The network that one party is likely to hold as a whole: a /24 of IPv4 or a /48 of IPv6. */
function wideNetworkOf(ip: string): RawBuilder<string> {
  const parsed = parseIp(ip);
  const address = sql`${parsed ? withoutIpv4Mapping(parsed).toString() : "::"}::inet`;
  return sql`network(set_masklen(${address}, case family(${address}) when 4 then 24 else 48 end))`;
}

/**
 * Deletes a client that no user has allowed: the oldest one of the network with most of them, so that registrations
 * from one network do not displace those of others. Throws temporarily_unavailable if all are in use. */
async function makeRoom(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${REGISTRATION_LOCK}::bigint)`.execute(trx);
  const { count } = await trx
    .selectFrom("oauth_client")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) < MOST_CLIENTS) return;
  const { rows } = await sql`
    delete from oauth_client where id = (
      select c.id from oauth_client c where not exists (select from oauth_grant g where g.client_id = c.id)
      order by count(*) over (partition by c.network) desc, coalesce(c.last_used_at, c.created_at) limit 1)
    returning 1`.execute(trx);
  if (rows.length === 0)
    throw new OAuthError("temporarily_unavailable", "Too many clients are registered at this gateway.");
}
