import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeScratchDir, type ScratchDir } from "../../../test/run/scratch-dir.ts";
import type { LocalServer } from "../../../test/servers/local-server.ts";
import { startS3Server } from "../../../test/servers/s3-server.ts";
import { Secret } from "../secrets/secret.ts";
import { createStoreName, type MediaStore } from "./media-store.ts";
import { openMediaStore } from "./open-media-store.ts";

let dir: ScratchDir;
let server: LocalServer;

beforeAll(async () => {
  dir = await makeScratchDir();
  server = await startS3Server("files");
});
afterAll(async () => {
  await server.shut();
  await dir.remove();
});

const STORES: readonly [string, () => string | undefined][] = [
  ["a folder of this node", () => undefined],
  ["a folder of all nodes", () => `file://${join(dir.path, "shared")}`],
  ["a bucket", () => `s3://key:secret@files/some/where?endpoint=${server.url}`],
];

function openStore(address: string | undefined, node = "node-1"): Promise<MediaStore> {
  return openMediaStore({
    address: address === undefined ? undefined : new Secret(address),
    dataDir: dir.path,
    node,
  });
}

async function keep(store: MediaStore, pieces: Buffer[]): Promise<string> {
  const draft = await store.begin();
  for (const piece of pieces) await draft.write(piece);
  const sha256 = await draft.end();
  expect(sha256).toBe(createHash("sha256").update(Buffer.concat(pieces)).digest("hex"));
  const name = createStoreName(sha256, randomBytes(4).toString("hex"));
  await draft.commit(name);
  await draft.discard();
  return name;
}

async function read(store: MediaStore, name: string, range?: { start: number; end: number }) {
  const stream = await store.open(name, range);
  return stream && buffer(stream);
}

describe.each(STORES)("%s", (_, address) => {
  test("returns the written bytes, completely and in part, until the file is deleted", async () => {
    const store = await openStore(address());
    const pieces = [randomBytes(100_000), randomBytes(1), randomBytes(200_000)];
    const bytes = Buffer.concat(pieces);
    const name = await keep(store, pieces);
    expect((await read(store, name))?.equals(bytes)).toBe(true);
    expect(await read(store, name, { start: 99_999, end: 100_001 })).toEqual(bytes.subarray(99_999, 100_002));
    await store.remove(name);
    expect(await read(store, name)).toBeUndefined();
    await store.remove(name);
  });

  test("stores nothing of a file that is dropped, and accepts an empty file", async () => {
    const store = await openStore(address());
    const draft = await store.begin();
    await draft.write(Buffer.from("half"));
    await draft.discard();
    const name = await keep(store, []);
    expect(await read(store, name)).toEqual(Buffer.alloc(0));
  });
});

describe("a media folder", () => {
  test("deletes its own incomplete files at the start, but not those of other nodes", async () => {
    const first = await openStore(undefined);
    const other = await openStore(undefined, "node-2");
    const drafts = await Promise.all([first.begin(), other.begin()]);
    for (const draft of drafts) await draft.write(Buffer.from("half"));
    await openStore(undefined);
    const left = await readdir(join(dir.path, "media", "arriving"), { recursive: true });
    expect(left.filter((path) => path.startsWith("node-1/"))).toEqual([]);
    expect(left.filter((path) => path.startsWith("node-2/"))).toHaveLength(1);
    for (const draft of drafts) await draft.discard();
  });

  test.each(["../../etc/passwd", "aa/bb/../../../x", "/etc/passwd", "aa/bb/cc", ""])(
    "has no file called %j, and says so before it reads",
    async (name) => {
      const store = await openStore(undefined);
      await expect(store.open(name)).rejects.toThrow(/not the name/);
      await expect(store.remove(name)).rejects.toThrow(/not the name/);
    },
  );

  test("that cannot be created is refused at the start", async () => {
    await expect(openStore("file:///dev/null/media")).rejects.toThrow(/media folder .* cannot be used/);
  });
});

describe("a media bucket", () => {
  test("that does not exist is refused at the start, without the credentials", async () => {
    const opening = openStore(`s3://key:top-secret@nowhere?endpoint=${server.url}`);
    await expect(opening).rejects.toThrow(/bucket nowhere/);
    await opening.catch((error: Error) => expect(error.message).not.toContain("top-secret"));
  });

  test("that becomes unavailable fails with an error distinct from an unavailable database", async () => {
    const gone = await startS3Server("files");
    const store = await openStore(`s3://key:secret@files?endpoint=${gone.url}`);
    await gone.shut();
    const error = await store.open(createStoreName("a".repeat(64), "1")).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ message: expect.stringMatching(/bucket did not read/) });
    expect(error).not.toHaveProperty("code");
  });
});
