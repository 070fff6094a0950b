import type { Db } from "../../platform/db/database.ts";
import type { SpooledUpload } from "../../platform/http/route.ts";
import { noFile } from "../media/media.ts";
import type { IntegrationDeps } from "./integration-provider.ts";

/** A link may end in a name, so that its path has an extension. */
const LINK = /\/media\/(med_\w{1,60})\/(\d{1,12})\/([\w-]{1,100})(?:\/[^/]{1,200})?$/;
/** For a link that is a path only. */
const ANY_BASE = "http://gateway.invalid";
const LONGEST_LINK = 2_000;

/** The file behind a link that this gateway has signed; undefined for every other URL. */
export async function openOwnFile(
  { db, mediaUrls, openFile }: Pick<IntegrationDeps, "db" | "mediaUrls" | "openFile">,
  url: string,
  account_id: number,
): Promise<SpooledUpload | undefined> {
  const named = readLink(url);
  if (!named || !mediaUrls.isGood(...named)) return undefined;
  const [mediaId] = named;
  if (!(await belongsTo(db, mediaId, account_id))) throw noFile();
  const { size, mime_type, file_name, read } = await openFile(mediaId);
  return {
    size,
    mime_type,
    sha256: "",
    ...(file_name !== null && { file_name }),
    async *read() {
      yield* await read();
    },
  };
}

/** A proxy may have given the gateway another host name, so only the path and its signature count. */
function readLink(url: string): [string, string, string] | undefined {
  if (url.length > LONGEST_LINK || !URL.canParse(url, ANY_BASE)) return undefined;
  const [, mediaId, expires, signature] = LINK.exec(new URL(url, ANY_BASE).pathname) ?? [];
  return mediaId && expires && signature ? [mediaId, expires, signature] : undefined;
}

async function belongsTo(db: Db, mediaId: string, account_id: number): Promise<boolean> {
  const found = await db
    .selectFrom("media as f")
    .innerJoin("message as m", "m.id", "f.message")
    .innerJoin("instance as i", "i.id", "m.instance_id")
    .select("f.id")
    .where("f.id", "=", mediaId)
    .where("i.account_id", "=", account_id)
    .executeTakeFirst();
  return found !== undefined;
}
