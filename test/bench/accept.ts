import autocannon from "autocannon";
import { residentMb } from "../process-figures.ts";
import { connectInstance, makeDataDir, removeDataDir, startBenchGateway } from "./bench-gateway.ts";

const SECONDS = 20;

/** How many async texts a second are taken, while they are also being sent. */
export async function benchAccept(): Promise<void> {
  const dataDir = await makeDataDir();
  const gateway = await startBenchGateway(dataDir);
  const { id, api_key } = await connectInstance(gateway);
  let n = 0;
  const result = await autocannon({
    url: `${gateway.url}/api/v1/instances/${id}/send-text`,
    connections: 50,
    duration: SECONDS,
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": api_key },
    setupClient: (client) => {
      const next = () => {
        n += 1;
        client.setBody(
          JSON.stringify({ number: `55119${10_000_000 + (n % 5000) * 10 + 6}`, text: `n${n}`, async: true }),
        );
      };
      next();
      client.on("response", next);
    },
  });
  const { requests, latency, non2xx, errors } = result;
  console.log(
    `async texts taken at 50 connections: ${requests.average.toFixed(0)}/s, p50 ${latency.p50} ms, p99 ${latency.p99} ms (goal: 1000/s or more, p99 below 150); refused ${non2xx}, errors ${errors}`,
  );
  console.log(`node after it: ${(await residentMb(gateway.pid)).toFixed(0)} MB resident`);
  await gateway.stop();
  await removeDataDir(dataDir);
}
