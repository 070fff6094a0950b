import { randomBytes } from "node:crypto";
import type { Env } from "../../src/platform/config/config.ts";
import { type DemoContext, DemoFailure } from "./demo-context.ts";
import { createDemoData, type DemoData } from "./demo-data.ts";
import { DemoGateway } from "./demo-gateway.ts";
import { DemoOutput } from "./demo-output.ts";
import { startDemoReceiver } from "./demo-receiver.ts";
import { pairInstance, rejectForgedWebhook, sendText, signInAsOwner } from "./demo-steps.ts";
import { surviveKill } from "./survive-kill.ts";

const OWNER = { email: "owner@demo.example", password: randomBytes(18).toString("base64url") };
const DOUBT_WAIT = "2s";

/** Runs the demo on scratch data and deletes all of it. Throws if Waygate breaks a promise. */
export async function demo(env: Env): Promise<void> {
  const tell = new DemoOutput({ isBold: process.stdout.isTTY === true && !env.NO_COLOR });
  tell.aside("Waygate at work: two instances on its sandbox network, on scratch data, in about 20 seconds.");
  const interrupted = listenForInterrupt();
  const data = await createDemoData(env.PG_BIN_DIR);
  const gateway = new DemoGateway(settingsOf(env, data));
  const receiver = await startDemoReceiver();
  try {
    await Promise.race([play({ tell, gateway, receiver, url: "" }, data), interrupted]);
  } finally {
    const exitCode = await gateway.stop();
    await receiver.close();
    await data.remove({ isDatabaseRunning: gateway.pid !== 0 && exitCode !== 0 });
  }
}

async function play(stage: DemoContext, { dir }: DemoData): Promise<void> {
  const { tell, gateway, receiver } = stage;
  tell.step("Start the gateway, with its own PostgreSQL");
  const startedAt = performance.now();
  stage.url = await gateway.start();
  const took = ((performance.now() - startedAt) / 1000).toFixed(1);
  tell.say(`Process ${gateway.pid} listens on ${stage.url} after ${took} s; its database is in ${dir}.`);
  tell.say(`Webhooks will come to ${receiver.url}, which verifies each of them.`);
  const owner = await signInAsOwner(stage, OWNER);
  const ana = await pairInstance(stage, owner, "Ana");
  const bruno = await pairInstance(stage, owner, "Bruno");
  await sendText(stage, ana, bruno, "Hello Bruno");
  await sendText(stage, bruno, ana, "Hello Ana");
  await rejectForgedWebhook(stage, ana);
  await surviveKill(stage, ana, bruno, DOUBT_WAIT);
  tell.step("Stop");
  const exitCode = await gateway.stop();
  if (exitCode !== 0) throw new DemoFailure(`The gateway was told to stop and ended with ${exitCode}.`);
  tell.say("The gateway has ended in order, with exit code 0. The scratch data is removed.");
  tell.aside("Everything that was promised happened. To run it for yourself: npm start");
}

/** The environment without settings that would point the demo at the user's data. */
function settingsOf(env: Env, { dir }: DemoData): Env {
  const isOurs = (name: string) => /^(WAYGATE_.*|DATABASE_URL|PORT|NODE_ENV)$/.test(name);
  const rest = Object.entries(env).filter(([name]) => !isOurs(name));
  return {
    ...Object.fromEntries(rest),
    WAYGATE_DATA_DIR: dir,
    WAYGATE_PORT: "0",
    WAYGATE_OWNER_EMAIL: OWNER.email,
    WAYGATE_OWNER_PASSWORD: OWNER.password,
    WAYGATE_ALLOWED_HOSTS: "loopback",
    // An address where nothing listens: the demo uses the sandbox network only.
    WAYGATE_WHATSAPP_URL: "ws://127.0.0.1:1/",
    WAYGATE_LOG_LEVEL: "warn",
    WAYGATE_DOUBT_WAIT: DOUBT_WAIT,
  };
}

function listenForInterrupt(): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    const stop = () => reject(new DemoFailure("The demo was interrupted."));
    process.once("SIGINT", stop).once("SIGTERM", stop);
  });
  interrupted.catch(() => {});
  return interrupted;
}
