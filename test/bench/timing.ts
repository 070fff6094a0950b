import { randomBytes } from "node:crypto";
import { createPasswordHasher, hashPassword } from "../../src/features/accounts/password-hasher.ts";
import { PASSWORD } from "../sign-in.ts";
import { makeDataDir, removeDataDir, startBenchGateway } from "./bench-gateway.ts";

const SAMPLES = Number(process.argv.find((word) => /^\d+$/.test(word)) ?? 10_000);
const HASHES = Math.min(400, SAMPLES);
const MOST_T = 4.5;

type Ask = () => Promise<unknown>;

/** Whether the time of a refusal tells how nearly right a secret was: Welch's t of two kinds of wrong ones. */
export async function benchTiming(): Promise<void> {
  const dataDir = await makeDataDir();
  const adminToken = randomBytes(30).toString("base64url");
  const gateway = await startBenchGateway(dataDir, {
    settings: { WAYGATE_ADMIN_TOKEN: adminToken, WAYGATE_UNKNOWN_RATE: "0" },
  });
  const ask = (headers: Record<string, string>) => async () => {
    const response = await fetch(`${gateway.url}/api/admin/overview`, { headers });
    if (response.status !== 401) throw new Error(`a wrong secret was answered ${response.status}`);
    await response.arrayBuffer();
  };
  const asAdmin = (admintoken: string) => ask({ admintoken });
  await compare(
    "administrative token",
    SAMPLES,
    asAdmin(wrongAt(adminToken, 0)),
    asAdmin(wrongAt(adminToken, -1)),
  );
  const asUser = (token: string) => ask({ authorization: `Bearer ${token}` });
  const signature = gateway.token.lastIndexOf(".") + 1;
  // The last character of a signature carries bits that do not count.
  const [early, late] = [wrongAt(gateway.token, signature), wrongAt(gateway.token, -2)];
  await compare("signature of a token", SAMPLES, asUser(early), asUser(late));
  await gateway.stop();
  await removeDataDir(dataDir);
  const passwords = createPasswordHasher();
  const hash = await hashPassword(PASSWORD);
  const judge = (known: string | undefined) => () => passwords.verify(known, "wrong horse battery staple");
  await compare("password of somebody and of nobody", HASHES, judge(hash), judge(undefined));
}

function wrongAt(secret: string, place: number): string {
  const at = place < 0 ? secret.length + place : place;
  return secret.slice(0, at) + (secret[at] === "A" ? "B" : "A") + secret.slice(at + 1);
}

/** In turns, so that both meet the same machine; the first tenth only warms up. */
async function compare(what: string, samples: number, one: Ask, other: Ask): Promise<void> {
  const times: [number[], number[]] = [[], []];
  for (let n = 0; n < samples * 1.1; n++) {
    for (const [which, ask] of [one, other].entries()) {
      const began = performance.now();
      await ask();
      if (n >= samples / 10) times[which]?.push(performance.now() - began);
    }
  }
  const [first, second] = times.map(describe);
  if (!first || !second) return;
  const t = (first.mean - second.mean) / Math.sqrt(first.variance / samples + second.variance / samples);
  console.log(
    `${what}: ${samples} each, mean ${first.mean.toFixed(3)} and ${second.mean.toFixed(3)} ms, |t| = ${Math.abs(t).toFixed(2)} (goal: below ${MOST_T})`,
  );
}

function describe(times: readonly number[]): { mean: number; variance: number } {
  const mean = times.reduce((all, time) => all + time, 0) / times.length;
  const variance = times.reduce((all, time) => all + (time - mean) ** 2, 0) / (times.length - 1);
  return { mean, variance };
}
