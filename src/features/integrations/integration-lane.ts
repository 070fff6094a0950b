import type { Job, JobResult, LaneKind } from "../../engine/engine.ts";
import type { EventWork, IntegrationDeps, Providers } from "./integration-provider.ts";
import { openIntegration } from "./integration-row.ts";
import { createWorkLoader, type IntegrationRef, type LoadedEvent } from "./work-loader.ts";

/** Chats of one integration that are processed concurrently. */
const WIDTH = 8;
/** Some requests take a minute. */
const BUDGET = 256;

/** The lanes of integrations: events of one chat are sent sequentially, and different chats concurrently. */
export function integrationLane({ db, box }: IntegrationDeps, providers: Providers): LaneKind {
  const loader = createWorkLoader(db);

  async function run(job: Job): Promise<JobResult> {
    const ref = job.ref as IntegrationRef;
    const loaded = await loader.load(ref);
    const provider = loaded && providers[loaded.integration.provider];
    if (!loaded || !provider) return { end: "done" };
    const integration = openIntegration(loaded.integration, box);
    if (ref.do === "task") {
      if (!provider.onTask) throw new Error(`${provider.name} has no tasks`);
      return provider.onTask({ job, integration, task: ref.task });
    }
    if (!loaded.event) return { end: "done" };
    return provider.onEvent({ job, integration, event: toEvent(loaded.event) });
  }

  return { kind: "integration", role: "worker", laneConcurrency: WIDTH, nodeConcurrency: BUDGET, run };
}

function toEvent({ created_at: recorded_at, ...event }: LoadedEvent): EventWork["event"] {
  const { data } = JSON.parse(event.body.toString("utf8")) as { data: unknown };
  return { ...event, recorded_at, data };
}
