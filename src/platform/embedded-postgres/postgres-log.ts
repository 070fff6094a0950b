import { copyFile, open, stat, truncate } from "node:fs/promises";

const MAX_BYTES = 5_000_000;

export async function postgresLogSize(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

/** Keeps the log and one older part, 5 MB each; the server continues to write to the same file. */
export async function rotatePostgresLog(path: string): Promise<void> {
  if ((await postgresLogSize(path)) < MAX_BYTES) return;
  await copyFile(path, `${path}.old`);
  await truncate(path, 0);
}

/** The last ten lines written after this byte. */
export async function readPostgresLogFrom(path: string, offset: number): Promise<string> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return "";
  try {
    const { size } = await file.stat();
    const start = Math.max(offset, size - 8_000, 0);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8_000), 0, 8_000, start);
    return buffer.toString("utf8", 0, bytesRead).trim().split("\n").slice(-10).join("\n");
  } finally {
    await file.close();
  }
}
