import { sql } from "kysely";
import type { OpenSessionOptions } from "../../network/driver.ts";
import type { Db } from "../../platform/db/database.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import { DEFAULT_SETTINGS } from "../instances/contract.ts";
import { toPolicyUrl } from "../instances/instances.ts";

/** What the instance's row says about its session. */
export type SessionOptions = Pick<
  OpenSessionOptions,
  "account_id" | "proxy" | "lookup" | "markOnline" | "deviceName" | "activeAt"
>;

export interface SessionOptionsDeps {
  db: Db;
  box: SecretBox;
  outgoing: Pick<SafeFetch, "findBlockReason" | "lookup">;
}

/** The session options of an instance. Undefined if its proxy is not allowed: the session needs the proxy. */
export async function readSessionOptions(
  { db, box, outgoing }: SessionOptionsDeps,
  id: number,
): Promise<SessionOptions | undefined> {
  const { account_id, proxy, settings, active_at } = await db
    .selectFrom("instance")
    .select(["account_id", "proxy", "settings", newestMessage(id).as("active_at")])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const { mark_online, device_name } = { ...DEFAULT_SETTINGS, ...settings };
  const options = {
    account_id,
    markOnline: mark_online,
    ...(device_name !== null && { deviceName: device_name }),
    ...(active_at && { activeAt: active_at }),
  };
  if (!proxy) return options;
  const url = box.open(proxy, encryptionContextOf("instance", "proxy", id));
  const policyUrl = toPolicyUrl(url);
  if (await outgoing.findBlockReason(policyUrl)) return undefined;
  return { ...options, proxy: url, lookup: outgoing.lookup(policyUrl) };
}

function newestMessage(id: number) {
  return sql<Date | null>`
    (select sent_at from message where instance_id = ${id} order by message.sent_at desc, message.id desc limit 1)`;
}
