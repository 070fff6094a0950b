import { setTimeout as sleep } from "node:timers/promises";
import type { MeasuredStage } from "../measured-stage.ts";
import type { BenchProcess } from "../processes/bench-process.ts";
import type { InboundLoad } from "../processes/load-generator.ts";
import type { ReceivedFigures } from "../processes/webhook-receiver.ts";

export interface Received extends ReceivedFigures {
  offered: number;
  lagMs: number;
}

/** How long the last text may take to come. */
const PATIENCE_MS = 60_000;

/** Sends the load and waits until as many texts have arrived. */
export async function receive(
  { load }: MeasuredStage,
  // biome-ignore lint/suspicious/noExplicitAny: the receiver of webhooks, or the library
  receiver: Pick<BenchProcess<any>, "ask">,
  texts: InboundLoad,
): Promise<Received> {
  await receiver.ask("reset", null);
  const { count, driverLagMs } = await load.ask("receive", texts);
  const giveUpAt = performance.now() + PATIENCE_MS;
  let read: ReceivedFigures = await receiver.ask("read", null);
  while (read.count < count && performance.now() < giveUpAt) {
    await sleep(50);
    read = await receiver.ask("read", null);
  }
  return { ...read, offered: count, lagMs: driverLagMs };
}
