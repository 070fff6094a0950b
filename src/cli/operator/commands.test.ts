import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { signIn } from "../../../test/sign-in.ts";
import { createClient } from "../../client/client.ts";
import { runCreateAccountCommand, runRecoverUserCommand } from "./account-commands.ts";
import { runRestoreCommand } from "./backup-commands.ts";
import { runRotateKeyCommand } from "./rotate-key-command.ts";
import { runVerifyAuditCommand } from "./verify-audit-command.ts";

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

  it("is read from the standard input, so that its password need not be an argument", async () => {
    await expect(restore("-", "postgres://waygate:", "secret@127.0.0.1/x\nrest")).rejects.toThrow(
      "There is no file",
    );
    // The settings contain the entered value.
    await expect(restore("-", "mysql://x\n")).rejects.toThrow("DATABASE_URL");
    expect(warn).not.toHaveBeenCalled();
  });

  it("is requested by an error message if the standard input is empty or never ends", async () => {
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

  it("causes a warning that does not repeat the password if it is given as an argument", async () => {
    await expect(restore("postgres://waygate:hush@127.0.0.1/x")).rejects.toThrow("There is no file");
    expect(warn).toHaveBeenCalledWith(expect.stringContaining("can read a password"));
    expect(JSON.stringify(warn.mock.calls)).not.toContain("hush");
  });
});

const OLD = "8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e";
const NEW = "Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye";
let test: TestGateway;
let env: Record<string, string>;

beforeAll(async () => {
  test = await startTestGateway({ WAYGATE_SECRET_KEY: OLD });
  env = { DATABASE_URL: test.database.url, WAYGATE_SECRET_KEY: OLD };
});
afterAll(() => test.stop());

async function print(command: Promise<void>): Promise<string> {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  try {
    await command;
    return log.mock.calls.flat().join("\n");
  } finally {
    log.mockRestore();
  }
}

describe("account create", () => {
  it("prints a password that signs the user in", async () => {
    const email = "reseller@example.com";
    const output = await print(runCreateAccountCommand(env, { name: "Shop", email, type: "reseller" }));
    const password = /^Password: (\S+)$/m.exec(output)?.[1] ?? "";
    const { data } = await test.anonymous.login({ email, password });
    expect(data.account).toMatchObject({ name: "Shop", account_type: "reseller" });
    expect(data.user.must_change_password).toBe(true);
  });

  it.each([
    [{ name: "x", email: "nobody", type: "client" }, /e-mail/],
    [{ name: "x", email: "x@example.com", type: "boss" }, /--type must be/],
  ])("rejects %j and gives the reason", async (input, words) => {
    await expect(runCreateAccountCommand(env, input)).rejects.toMatchObject({
      name: "StartError",
      message: expect.stringMatching(words),
    });
  });

  it("reports which setting is wrong, and reports a wrong secret key", async () => {
    const input = { name: "x", email: "x@example.com", type: "client" };
    await expect(runCreateAccountCommand({ DATABASE_URL: env.DATABASE_URL }, input)).rejects.toThrow(
      "WAYGATE_SECRET_KEY is required",
    );
    await expect(runCreateAccountCommand({ ...env, WAYGATE_SECRET_KEY: NEW }, input)).rejects.toThrow(
      "not the one that the secrets in this database are encrypted with",
    );
  });
});

describe("account password", () => {
  it("prints a new password that signs the user in, and ends all earlier sign-ins", async () => {
    const email = "lost@example.com";
    await print(runCreateAccountCommand(env, { name: "Lost", email, type: "client" }));
    const output = await print(runRecoverUserCommand(env, "LOST@example.com", {}));
    const password = /^Password: (\S+)$/m.exec(output)?.[1] ?? "";
    const { user } = (await test.anonymous.login({ email, password })).data;
    expect(user).toMatchObject({ email, must_change_password: true });
    await print(runRecoverUserCommand(env, email, {}));
    await expect(test.anonymous.login({ email, password })).rejects.toMatchObject({
      code: "INVALID_CREDENTIALS",
    });
  });

  it("requires the account if several accounts use the e-mail, and reports an unknown e-mail", async () => {
    const email = "twice@example.com";
    for (const name of ["One", "Two"])
      await print(runCreateAccountCommand(env, { name, email, type: "client" }));
    const { message } = await runRecoverUserCommand(env, email, {}).catch((error) => error);
    const [first = ""] = message.match(/\d+/g) ?? [];
    expect(message).toMatch(/signs in to the accounts \d+, \d+\. Name one with --account-id\.$/);
    const output = await print(runRecoverUserCommand(env, email, { accountId: first }));
    expect(output).toContain(`Account: ${first}\n`);
    await expect(runRecoverUserCommand(env, "nobody@example.com", {})).rejects.toThrow("There is no user");
    await expect(runRecoverUserCommand(env, email, { accountId: "x" })).rejects.toThrow("must be a number");
  });
});

describe("audit verify", () => {
  it("reports an unchanged log, and names an entry that was changed later", async () => {
    const { db, pool } = test.database;
    await waitUntil(async () => (await db.selectFrom("audit_seal").selectAll().execute()).length > 0);
    const output = await print(runVerifyAuditCommand(env, undefined));
    expect(output).toMatch(/^The audit log is unchanged: \d+ entries verified/);
    const head = /^Head: ([0-9a-f]{64})$/m.exec(output)?.[1];
    await print(runVerifyAuditCommand(env, head));
    await expect(runVerifyAuditCommand(env, "0".repeat(64))).rejects.toThrow("has this --head");
    const change = (action: string) =>
      pool.query(`set session_replication_role = replica; update audit set action = '${action}' where id = 1;
        set session_replication_role = origin`);
    const { action } = await db
      .selectFrom("audit")
      .select("action")
      .where("id", "=", 1)
      .executeTakeFirstOrThrow();
    await change("x.y");
    await expect(runVerifyAuditCommand(env, undefined)).rejects.toThrow(
      "The audit log is broken at link 1: entry 1: the entry or its link was changed.",
    );
    await change(action);
  });
});

describe("key rotate", () => {
  it("changes the key of a running gateway: sign-ins, secrets and the audit log remain usable", async () => {
    const instance = await test.connectInstance();
    const { token } = await signIn(test.url);
    await test.restart({ WAYGATE_SECRET_KEY: NEW, WAYGATE_SECRET_KEY_SECOND: OLD });
    await createClient({ baseUrl: test.url, token }).me();
    const rotated = { ...env, WAYGATE_SECRET_KEY: NEW, WAYGATE_SECRET_KEY_SECOND: OLD };
    expect(await print(runRotateKeyCommand(rotated))).toMatch(/^instance\.webhook_secret: 1$/m);
    await test.restart({ WAYGATE_SECRET_KEY: NEW });
    const client = createClient({ baseUrl: test.url, apiKey: instance.api_key });
    await waitUntil(async () => (await client.getInstanceStatus({ id: instance.id })).data.connected);
    await expect(createClient({ baseUrl: test.url, token }).me()).rejects.toMatchObject({
      code: "INVALID_TOKEN",
    });
    const only = { ...env, WAYGATE_SECRET_KEY: NEW };
    expect(await print(runVerifyAuditCommand(only, undefined))).toContain("is unchanged");
    await expect(runRotateKeyCommand(env)).rejects.toThrow("not the one that the secrets");
  });
});
