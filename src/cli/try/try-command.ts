import { randomBytes } from "node:crypto";
import { sep } from "node:path";
import type { Client } from "../../client/client.ts";
import type { Env } from "../../platform/config/config.ts";
import { packageRoot } from "../../platform/package-version.ts";
import { CleanupStack } from "../../processes/cleanup-stack.ts";
import { CommandError } from "../command-error.ts";
import { describeEvent } from "../listen/describe-event.ts";
import { createStopSignal, type StopSignal } from "../listen/stop-signal.ts";
import { startWebhookListener } from "../listen/webhook-listener.ts";
import { toCommandError } from "../to-command-error.ts";
import { readTrySettings, type TryOptionTexts, type TrySettings } from "./read-try-settings.ts";
import { startTemporaryGateway, type TemporaryGateway } from "./start-temporary-gateway.ts";
import { createTrySteps, REPLYING_NUMBER } from "./try-steps.ts";
import { VerifiedEvents } from "./verified-events.ts";

interface TriedGateway {
  baseUrl: string;
  id: number;
  apiKey: string;
  /** Whether the instance still exists. */
  keep: boolean;
  /** Of a temporary gateway. */
  owner?: { email: string; password: string };
  env: Env;
}

/** What the parts of the command share. */
interface Attempt {
  env: Env;
  settings: TrySettings;
  stop: StopSignal;
  undo: CleanupStack;
}

const UNDO_MS = 60_000;

/** Goes from nothing to a verified event, step by step, and removes what it made. Throws UsageError, CommandError. */
export async function runTryCommand(env: Env, texts: TryOptionTexts): Promise<void> {
  const settings = readTrySettings(env, texts);
  const undo = new CleanupStack();
  const stop = createStopSignal();
  try {
    await play({ env, settings, stop, undo });
  } catch (error) {
    if (stop.signal.aborted)
      throw new CommandError("Interrupted. What was made is removed.", { cause: error });
    throw error;
  } finally {
    await undo.run(UNDO_MS);
    stop.release();
  }
}

async function play(attempt: Attempt): Promise<void> {
  const { env, settings, stop, undo } = attempt;
  const { keep } = settings;
  if (settings.gateway !== undefined) {
    console.log(`Trying the gateway at ${settings.gateway.baseUrl}.`);
    const made = await playAt(attempt, settings.gateway);
    console.log(adviseNextSteps({ ...made, env, keep }).join("\n"));
    return;
  }
  console.log("Starting a gateway with its own PostgreSQL on temporary data ...");
  const temporary = await startTemporaryGateway(env);
  undo.add(() => stopTemporary(temporary, keep, commandName(env)));
  stop.signal.throwIfAborted();
  const { baseUrl, owner } = temporary;
  console.log(`It listens on ${baseUrl}.`);
  const made = await playAt(attempt, { baseUrl, signIn: owner }, temporary);
  console.log(adviseNextSteps({ ...made, env, keep, owner }).join("\n"));
  if (!keep) return;
  console.log("\nThe gateway runs, and its events are shown here, until Ctrl-C.");
  made.events.onEach = ({ event, headers }) => console.log(describeEvent(event, headers, new Date()));
  await stop.stopped;
}

async function stopTemporary(gateway: TemporaryGateway, keep: boolean, command: string): Promise<void> {
  await gateway.stop({ keep });
  if (!keep) return console.log("The gateway is stopped, and its data are deleted.");
  console.log(`The gateway is stopped. Its data stay: WAYGATE_DATA_DIR=${gateway.dataDir} ${command} serve`);
}

type Target = NonNullable<TrySettings["gateway"]>;

/** Every step at one gateway. With the data of a temporary one goes everything that is made in it. */
async function playAt({ settings, stop, undo }: Attempt, target: Target, temporary?: TemporaryGateway) {
  const { baseUrl } = target;
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  const events = new VerifiedEvents();
  const { host, port, publicUrl } = settings.listener;
  const onRefusal = (reason: string) => console.error(`refused with ${reason}`);
  const listener = await startWebhookListener({ host, port, secret, respond: events.respond, onRefusal });
  undo.add(() => listener.close());
  const remove = (what: string, work: () => Promise<unknown>): void => {
    if (temporary === undefined) undo.add(() => removeMade(what, work, baseUrl));
  };
  const url = publicUrl ?? listener.url;
  const steps = createTrySteps({ baseUrl, url, secret, events, signal: stop.signal });
  try {
    const account = await steps.signIn(target.signIn);
    const instance = await steps.createInstance(account);
    if (!settings.keep) remove("instance", () => deleteInstance(account, instance.id));
    const webhook = await steps.createWebhook(instance);
    // Nothing listens at its address after the end. With the instance it goes as well.
    if (settings.keep) remove("webhook", webhook.remove);
    await steps.pair(instance);
    await steps.send(instance);
    await steps.receive(instance);
    if (temporary) await steps.surviveKill(temporary, instance);
    return { ...instance, baseUrl, events };
  } catch (error) {
    stop.signal.throwIfAborted();
    throw toCommandError(error, baseUrl);
  }
}

async function deleteInstance(account: Client, id: number): Promise<void> {
  await account.deleteInstance({ id });
  console.log(`\nRemoved instance ${id} with its key, webhook and messages.`);
}

async function removeMade(what: string, work: () => Promise<unknown>, baseUrl: string): Promise<void> {
  await work().catch((error: unknown) => {
    throw new CommandError(`The ${what} was not removed.\n${toCommandError(error, baseUrl).message}`);
  });
}

/** What to do next, as lines to read and to paste. */
function adviseNextSteps({ baseUrl, id, apiKey, keep, owner, env }: TriedGateway): string[] {
  const waygate = commandName(env);
  const isGone = owner !== undefined && !keep;
  const url = isGone ? "http://127.0.0.1:3000" : baseUrl;
  const lines = ["", "It works. Next:", ""];
  if (isGone)
    lines.push("  Run a gateway of your own; it prints the owner's sign-in:", `    ${waygate} serve`, "");
  if (owner !== undefined && keep)
    lines.push(`  Sign in at ${url}/docs: ${owner.email}, password ${owner.password}`, "");
  const [shownId, key] = keep ? [String(id), apiKey] : ["$ID", "$KEY"];
  const which = keep ? "this instance" : "your instance (ID and KEY are in the response that creates it)";
  return [
    ...lines,
    `  Send with ${which}:`,
    `    curl -s ${url}/api/v1/instances/${shownId}/send-text -H "x-api-key: ${key}" \\`,
    `      -H 'content-type: application/json' -d '{"number":"${REPLYING_NUMBER}","text":"Hello"}'`,
    `    WAYGATE_API_KEY=${key} ${waygate} send ${REPLYING_NUMBER} Hello --url ${url} --instance ${shownId}`,
    "",
    "  See its events, or pass them on to your program:",
    `    WAYGATE_API_KEY=${key} ${waygate} listen --url ${url} --instance ${shownId} --forward http://localhost:8000/`,
    "",
    `  Read on: ${url}/docs/waygate (guide), ${url}/docs (every route)`,
  ];
}

/** What one types to run this program again: in a checkout, installed, or with npx, which installs nothing to stay. */
export function commandName(env: Env, root = packageRoot()): string {
  if (!root.split(sep).includes("node_modules")) return "node bin/waygate.mjs";
  if (env.npm_command !== "exec") return "waygate";
  const from = env.npm_config_package ?? "";
  return /^[\w@.:/-]+$/.test(from) ? `npx --package=${from} waygate` : "npx waygate";
}
