import { execFile, spawnSync } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contract } from "../../src/contract.ts";
import { toOpenApi30 } from "../../src/platform/openapi/to-openapi-30.ts";
import { describeApi } from "../../src/processes/describe-api.ts";
import { newPhone, startTestGateway, type TestGateway } from "../gateway.ts";
import { makeScratchDir } from "../scratch-dir.ts";
import { OWNER } from "../sign-in.ts";
import { ROOT } from "../source-files.ts";
import { generateClient } from "./openapi-generator.ts";

const run = promisify(execFile);
const isHere = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

/** A Python that has what the generated client requires. */
const PYTHON = ["python3", "/usr/bin/python3"].find((command) =>
  isHere(command, "-c", "import dateutil, urllib3, pydantic; assert pydantic.VERSION.startswith('1.')"),
);
const hasJava = isHere("java", "-version");

const LANGUAGES = [
  {
    language: "python" as const,
    found: hasJava && PYTHON !== undefined,
    missing: "java, or python3 with pydantic 1",
  },
  { language: "go" as const, found: hasJava && isHere("go", "version"), missing: "java, or go" },
];

let gateway: TestGateway;
let scratch: Awaited<ReturnType<typeof makeScratchDir>>;
let document: string;
beforeAll(async () => {
  [gateway, scratch] = await Promise.all([startTestGateway(), makeScratchDir()]);
  document = join(scratch.path, "openapi-3.0.json");
  await writeFile(document, JSON.stringify(toOpenApi30(describeApi(contract))));
});
afterAll(async () => {
  await gateway.stop();
  await scratch.remove();
});

/** Builds the story with a generated client; returns the command that runs it. */
const build = {
  async python(client: string) {
    const story = join(ROOT, "test/clients/first-message.py");
    const command = PYTHON ?? "python3";
    if (!isHere(command, "-c", "import aenum")) await useStandardEnums(join(client, "waygate/models"));
    await run(command, ["-m", "compileall", "-q", join(client, "waygate")]);
    return { command, args: [story], env: { PYTHONPATH: client, PYTHONDONTWRITEBYTECODE: "1" } };
  },
  async go(client: string) {
    const sources = join(scratch.path, "go/src");
    await mkdir(join(sources, "waygate"), { recursive: true });
    await mkdir(join(sources, "story"));
    for (const name of (await readdir(client)).filter((file) => file.endsWith(".go")))
      await copyFile(join(client, name), join(sources, "waygate", name));
    await copyFile(join(ROOT, "test/clients/first-message.go"), join(sources, "story/main.go"));
    const env = { ...process.env, GO111MODULE: "off", GOPATH: join(scratch.path, "go"), GOFLAGS: "" };
    const command = join(scratch.path, "first-message");
    // Without optimisation, the compiler needs a fraction of the time for the 900 models.
    await run("go", ["build", "-gcflags=waygate=-N -l", "-o", command, "story"], { env });
    return { command, args: [], env: {} };
  },
};

/** The client imports its enums from aenum, which Debian does not have; the standard library has the same. */
async function useStandardEnums(models: string): Promise<void> {
  for (const name of await readdir(models)) {
    const text = await readFile(join(models, name), "utf8");
    const changed = text.replace("from aenum import Enum, no_arg", "from enum import Enum");
    // The standard enum does not know its own name while its class is defined.
    if (changed !== text)
      await writeFile(join(models, name), `from __future__ import annotations\n${changed}`);
  }
}

describe.each(LANGUAGES)(
  "a client that openapi-generator writes for $language",
  ({ language, found, missing }) => {
    test.skipIf(!found)(
      found
        ? "sends a first message and receives its verified event"
        : `is skipped: this machine has no ${missing}`,
      async () => {
        const folder = join(scratch.path, `${language}-client`);
        await generateClient(language, document, folder);
        const { command, args, env } = await build[language](folder);
        const recipient = newPhone();
        const { stdout } = await run(command, args, {
          env: {
            PATH: process.env.PATH,
            ...env,
            WAYGATE_BASE_URL: gateway.url,
            WAYGATE_EMAIL: OWNER.email,
            WAYGATE_PASSWORD: OWNER.password,
            WAYGATE_TEST_PHONE: newPhone(),
            WAYGATE_TEST_RECIPIENT: recipient,
          },
        });
        const seen = JSON.parse(stdout);
        const text = `Hello from ${language === "go" ? "Go" : "Python"}`;
        expect(seen).toEqual({
          instance_id: expect.any(Number),
          message_id: expect.stringMatching(/^\w+$/),
          delivered: seen.message_id,
          is_genuine: true,
          is_changed_genuine: false,
          messages: [{ message_id: seen.message_id, text, direction: "outbound" }],
          events: ["message.sent"],
          refusal: { status: 400, code: "VALIDATION_ERROR" },
        });
        const { data } = await gateway.owner.listMessages({ id: seen.instance_id });
        expect(data.map(({ text, phone }) => ({ text, phone }))).toEqual([{ text, phone: recipient }]);
      },
      // Java and the compiler of Go need minutes on a busy machine.
      600_000,
    );
  },
);
