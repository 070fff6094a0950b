import { join } from "node:path";
import type { Secret } from "../secrets/secret.ts";
import { FolderMediaStore } from "./folder-media-store.ts";
import type { MediaStore } from "./media-store.ts";
import { S3MediaStore } from "./s3-media-store.ts";

export interface MediaStoreOptions {
  /**
   * `s3://[key:secret@]bucket/prefix?region=..&endpoint=..`, `file:///shared/folder`, or absent for the data
   * directory.
   */
  address: Secret | undefined;
  dataDir: string;
  node: string;
}

/** Opens the store; throws one clear Error if it is unusable. */
export async function openMediaStore({ address, dataDir, node }: MediaStoreOptions): Promise<MediaStore> {
  const url = address && new URL(address.reveal());
  if (url?.protocol === "s3:") return S3MediaStore.open(url, { scratch: join(dataDir, "media-arriving") });
  const root = url ? decodeURIComponent(url.pathname) : join(dataDir, "media");
  return FolderMediaStore.open(root, { node, isShared: url !== undefined });
}
