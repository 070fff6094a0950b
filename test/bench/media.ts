import { randomBytes } from "node:crypto";
import { percentile, residentMb } from "../process-figures.ts";
import { connectInstance, makeDataDir, removeDataDir, startBenchGateway } from "./bench-gateway.ts";

const FILE_BYTES = 5 * 1024 * 1024;
const SENDS = 60;
const AT_ONCE = 4;

/** Files of 5 MB through send-media, and what they leave in memory. */
export async function benchMedia(): Promise<void> {
  const dataDir = await makeDataDir();
  const gateway = await startBenchGateway(dataDir);
  const { id, client } = await connectInstance(gateway);
  const base64 = randomBytes(FILE_BYTES).toString("base64");
  const before = await residentMb(gateway.pid);
  const times: number[] = [];
  let highest = before;
  let left = SENDS;
  const work = async (lane: number) => {
    while (left-- > 0) {
      const began = performance.now();
      await client.sendMedia({
        id,
        number: `55119100001${lane}0`,
        base64,
        type: "document",
        file_name: "file.bin",
      });
      times.push(performance.now() - began);
      highest = Math.max(highest, await residentMb(gateway.pid));
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, (_, lane) => work(6 + lane)));
  const seconds = (performance.now() - began) / 1000;
  const half = await residentMb(gateway.pid);
  console.log(
    `${SENDS} sync sends of 5 MB, ${AT_ONCE} at once: ${((SENDS * 5) / seconds).toFixed(0)} MB/s, p50 ${percentile(times, 0.5).toFixed(0)} ms; node resident before ${before.toFixed(0)} MB, highest ${highest.toFixed(0)} MB, after ${half.toFixed(0)} MB`,
  );
  await gateway.stop();
  await removeDataDir(dataDir);
}
