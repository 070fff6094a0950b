import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runRestoreCommand } from "./backup-commands.ts";

describe("the database of `waygate restore`", () => {
  const warn = vi.fn();
  beforeEach(() => void vi.spyOn(console, "error").mockImplementation(warn));
  afterEach(() => {
    vi.restoreAllMocks();
    warn.mockReset();
  });
  const restore = (databaseUrl: string, ...input: string[]) =>
    runRestoreCommand(
      { WAYGATE_SECRET_KEY: randomBytes(32).toString("base64") },
      "/no/such.backup",
      { databaseUrl },
      Readable.from(input.map((text) => Buffer.from(text))),
    );

  test("is read from the standard input, so that its password need not be an argument", async () => {
    await expect(restore("-", "postgres://waygate:", "secret@127.0.0.1/x\nrest")).rejects.toThrow(
      "There is no file",
    );
    // The settings contain what was read.
    await expect(restore("-", "mysql://x\n")).rejects.toThrow("DATABASE_URL");
    expect(warn).not.toHaveBeenCalled();
  });

  test("is requested by an error message if the standard input is empty or never ends", async () => {
    await expect(restore("-", "\n")).rejects.toThrow("reads the address of the database");
    await expect(
      restore(
        "-",
        ..."x"
          .repeat(10)
          .split("")
          .map((x) => x.repeat(1000)),
      ),
    ).rejects.toThrow("reads the address of the database");
  });

  test("causes a warning that does not repeat the password if it is given as an argument", async () => {
    await expect(restore("postgres://waygate:hush@127.0.0.1/x")).rejects.toThrow("There is no file");
    expect(warn).toHaveBeenCalledWith(expect.stringContaining("can read a password"));
    expect(JSON.stringify(warn.mock.calls)).not.toContain("hush");
  });
});
