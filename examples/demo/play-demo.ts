import { randomBytes } from "node:crypto";
import { type DemoContext, DemoFailure } from "./demo-context.ts";
import { DemoGateway } from "./demo-gateway.ts";
import { DemoOutput } from "./demo-output.ts";
import { startDemoReceiver } from "./demo-receiver.ts";
import { pairInstance, rejectForgedWebhook, sendText, signInAsOwner } from "./demo-steps.ts";
import { scratchSettings } from "./scratch-settings.ts";
import { surviveKill } from "./survive-kill.ts";

export interface DemoOptions {
  /** The program of the gateway: `bin/waygate.mjs`. */
  program: string;
  /** An empty folder for the gateway's data; stays after the demo. */
  dataDir: string;
  env: NodeJS.ProcessEnv;
  /** Whether titles are bold. */
  isBold: boolean;
}

const OWNER = { email: "owner@demo.example", password: randomBytes(18).toString("base64url") };
const UNKNOWN_OUTCOME_WAIT = "2s";

/** Plays the demo step by step with a gateway of its own. Throws DemoFailure if Waygate breaks a promise. */
export async function playDemo({ program, dataDir, env, isBold }: DemoOptions): Promise<void> {
  const output = new DemoOutput({ isBold });
  output.printAside(
    "Waygate at work: two instances on its sandbox network, on scratch data, in about 20 seconds.",
  );
  const interrupted = listenForInterrupt();
  const settings = { ...scratchSettings(env, dataDir, OWNER), WAYGATE_DOUBT_WAIT: UNKNOWN_OUTCOME_WAIT };
  const gateway = new DemoGateway(program, settings);
  const receiver = await startDemoReceiver();
  try {
    await Promise.race([play({ output, gateway, receiver, url: "" }, dataDir), interrupted]);
  } finally {
    await gateway.stop();
    await receiver.close();
  }
}

async function play(demo: DemoContext, dataDir: string): Promise<void> {
  const { output, gateway, receiver } = demo;
  output.step("Start the gateway, with its own PostgreSQL");
  const startedAt = performance.now();
  demo.url = await gateway.start();
  const took = ((performance.now() - startedAt) / 1000).toFixed(1);
  output.print(
    `Process ${gateway.pid} listens on ${demo.url} after ${took} s; its database is in ${dataDir}.`,
  );
  output.print(`The gateway sends webhooks to ${receiver.url}, which verifies each of them.`);
  const owner = await signInAsOwner(demo, OWNER);
  const ana = await pairInstance(demo, owner, "Ana");
  const bruno = await pairInstance(demo, owner, "Bruno");
  await sendText(demo, ana, bruno, "Hello Bruno");
  await sendText(demo, bruno, ana, "Hello Ana");
  await rejectForgedWebhook(demo, ana);
  await surviveKill(demo, ana, bruno, UNKNOWN_OUTCOME_WAIT);
  output.step("Stop");
  const exitCode = await gateway.stop();
  if (exitCode !== 0) throw new DemoFailure(`The gateway was told to stop and exited with ${exitCode}.`);
  output.print("The gateway has stopped gracefully, with exit code 0.");
  output.printAside("Everything that was promised happened. To run it for yourself: npm start");
}

function listenForInterrupt(): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    const stop = () => reject(new DemoFailure("The demo was interrupted."));
    process.once("SIGINT", stop).once("SIGTERM", stop);
  });
  interrupted.catch(() => {});
  return interrupted;
}
