import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { ADMIN_TOKEN, startTestGateway, type TestGateway, type TestInstance } from "../gateway.ts";
import { makeScratchDir } from "../run/scratch-dir.ts";
import { type FakeChatwoot, startFakeChatwoot } from "../servers/fake-chatwoot.ts";
import { startN8n } from "../servers/n8n-server.ts";
import { startReceiver } from "../servers/receiver.ts";
import { ask, bubble, startTypebot } from "../servers/typebot-server.ts";
import { OWNER, signIn } from "../sign-in.ts";

/** A shell in which the commands of the documents run, with everything that they call. */
export interface GuideShell {
  readonly gateway: TestGateway;
  /** Settings of the gateway that a command beside it needs. */
  readonly settings: Readonly<Record<string, string>>;
  /** A token of the owner. */
  readonly token: string;
  /** Runs the commands one after the other in one shell, with the test's addresses in place of the page's. */
  run(commands: readonly string[], instance: TestInstance): Promise<Run>;
  /** An output with the page's addresses and ids in place of the test's. */
  toPage(output: string, instance: TestInstance): string;
  stop(): Promise<void>;
}

export interface Run {
  code: number;
  /** The script and all that it printed. */
  transcript: string;
  /** What each of the commands printed. */
  outputs: string[];
}

/** No name server knows it. */
const PUBLIC_URL = "https://waygate.invalid";

/** Printed after each command. */
const END = "\u001e";

/**
 * Reports a refusal by its exit code, unless the command shows the status line. curl takes one of the two options.
 * A command with a time limit follows a stream without an end, and 28 says that the limit was reached.
 */
const CURL = `curl() { case " $* " in
  *--fail*|*" -i "*) command curl "$@";;
  *" --max-time "*) command curl --fail-with-body "$@" || [ $? = 28 ];;
  *) command curl --fail-with-body "$@";;
esac; }`;

export async function startGuideShell(): Promise<GuideShell> {
  const folder = await makeScratchDir();
  const settings = {
    // Chatwoot calls no private address, and the gateway warns of one.
    WAYGATE_BASE_URL: PUBLIC_URL,
    WAYGATE_SECRET_KEY: randomBytes(32).toString("base64"),
    WAYGATE_BACKUP_KEY: randomBytes(32).toString("base64"),
    WAYGATE_BACKUP_DIR: folder.path,
  };
  const [gateway, receiver, chatwoot, typebot, n8n] = await Promise.all([
    startTestGateway(settings),
    startReceiver(),
    startFakeChatwoot(),
    startTypebot(),
    startN8n(),
  ]);
  typebot.publish("my-shop-x1y2z3", [bubble("b1", "Hello! What is your name?"), ask("i1")]);
  n8n.activate("waygate", { respond: "responseNode", output: { output: "You wrote: Are you open?" } });
  const { token } = await signIn(gateway.url);
  const addresses = Object.entries({
    "http://localhost:3000": gateway.url,
    "http://localhost:8080": receiver.url.replace(/\/$/, ""),
    "https://n8n.example.com": n8n.url,
    "https://bot.example.com": typebot.url,
    "https://chat.example.com": chatwoot.url,
    "owner@localhost": OWNER.email,
  });

  return {
    gateway,
    settings,
    token,
    run: (commands, instance) => {
      const lines = commands.map((command) => `${command}\nprintf '${END}'`).join("\n");
      const script = addresses
        .reduce((text, [shown, real]) => text.replaceAll(shown, real), withSecrets(lines, chatwoot))
        .replaceAll("localhost:3000", gateway.url)
        .replaceAll("/instances/1", `/instances/${instance.id}`)
        .replaceAll('"instance_id":1', `"instance_id":${instance.id}`);
      const env = { PATH: process.env.PATH, TOKEN: token, KEY: instance.api_key, ADMIN_TOKEN };
      return runScript(`set -eo pipefail\n${CURL}\n${script}`, folder.path, env);
    },
    toPage: (output, { id, phone }) =>
      addresses
        .reduce((text, [shown, real]) => text.replaceAll(real, shown), output)
        .replaceAll(PUBLIC_URL, "http://localhost:3000")
        .replaceAll(`inst_${id}"`, 'inst_1"')
        .replaceAll(`/instances/${id}/`, "/instances/1/")
        .replaceAll(`"instance_id":${id},`, '"instance_id":1,')
        .replaceAll(`"id":${id},"name":"Sales"`, '"id":1,"name":"Sales"')
        .replaceAll(phone || /(?!)/g, "5511999990077"),
    async stop() {
      await gateway.stop();
      await Promise.all([folder.remove(), receiver.close(), chatwoot.stop(), typebot.shut(), n8n.shut()]);
    },
  };
}

function withSecrets(commands: string, chatwoot: FakeChatwoot): string {
  return commands
    .replaceAll('"access_token":"..."', `"access_token":"${chatwoot.token}"`)
    .replaceAll('"password":"..."', `"password":"${OWNER.password}"`)
    .replaceAll("PASSWORD='...'", `PASSWORD='${OWNER.password}'`);
}

function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Run> {
  return new Promise((resolve) => {
    execFile("bash", ["--norc", "-c", script], { cwd, env }, (error, stdout, stderr) =>
      resolve({
        code: error === null ? 0 : Number(error.code),
        transcript: `${script}\n${stdout}${stderr}`,
        outputs: stdout.split(END),
      }),
    );
  });
}
