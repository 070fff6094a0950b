import { execFile } from "node:child_process";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newPhone, startTestGateway, type TestGateway } from "../gateway.ts";
import { makeScratchDir } from "../run/scratch-dir.ts";
import { OWNER } from "../sign-in.ts";
import { ROOT } from "../source-files.ts";

const run = promisify(execFile);

/** An OpenAPI 3.1 generator, and a client for its types. */
const PACKAGES = ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0"];

let gateway: TestGateway;
let scratch: Awaited<ReturnType<typeof makeScratchDir>>;
beforeAll(async () => {
  [gateway, scratch] = await Promise.all([startTestGateway(), makeScratchDir()]);
});
afterAll(async () => {
  await gateway.stop();
  await scratch.remove();
});

test("a client with types that openapi-typescript writes sends a first message and receives its event", async () => {
  const cwd = scratch.path;
  const bin = (name: string, ...args: string[]) => run(join(ROOT, "node_modules/.bin", name), args, { cwd });
  await writeFile(join(cwd, "package.json"), '{"type":"module"}');
  await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...PACKAGES], { cwd });
  const generator = join(cwd, "node_modules/openapi-typescript/bin/cli.js");
  // A request may omit a field with a default.
  const options = ["--default-non-nullable=false", "--output", "schema.ts"];
  await run(process.execPath, [generator, join(ROOT, "openapi.json"), ...options], { cwd });
  await copyFile(join(ROOT, "test/clients/first-message.mjs"), join(cwd, "first-message.mjs"));
  const types = ["--types", "node", "--typeRoots", join(ROOT, "node_modules/@types")];
  const checks = ["--noEmit", "--strict", "--checkJs", "--allowImportingTsExtensions", "--skipLibCheck"];
  const language = ["--target", "es2023", "--module", "nodenext"];
  await bin("tsc", ...checks, ...language, ...types, "first-message.mjs").catch(({ stdout }) => {
    throw new Error(stdout);
  });

  const recipient = newPhone();
  const { stdout } = await run(process.execPath, ["first-message.mjs"], {
    cwd,
    env: {
      PATH: process.env.PATH,
      WAYGATE_BASE_URL: gateway.url,
      WAYGATE_EMAIL: OWNER.email,
      WAYGATE_PASSWORD: OWNER.password,
      WAYGATE_TEST_PHONE: newPhone(),
      WAYGATE_TEST_RECIPIENT: recipient,
    },
  });
  const seen = JSON.parse(stdout);
  const text = "Hello from types";
  expect(seen).toEqual({
    instance_id: expect.any(Number),
    message_id: expect.stringMatching(/^\w+$/),
    delivered: seen.message_id,
    messages: [{ message_id: seen.message_id, text, direction: "outbound" }],
    events: ["message.sent"],
    refusal: { status: 400, code: "VALIDATION_ERROR" },
  });
  const { data } = await gateway.owner.listMessages({ id: seen.instance_id });
  expect(data.map((one) => ({ text: one.text, phone: one.phone }))).toEqual([{ text, phone: recipient }]);
});
