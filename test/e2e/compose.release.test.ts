import { randomBytes } from "node:crypto";
import pg from "pg";
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { readCompose } from "../documents/read-compose.ts";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { makeScratchDir } from "../run/scratch-dir.ts";
import { launchGateway } from "../run/spawn-gateway.ts";
import { startTestPostgres, type TestPostgres } from "../run/test-postgres.ts";
import { OWNER } from "../sign-in.ts";

/** Characters that must be escaped in a URL. */
const PASSWORD = 'a/b#c?d@e:f%41 g"h\\i';
const secret = () => randomBytes(32).toString("base64");
const ADMIN_TOKEN = secret();
const DOT_ENV = `
POSTGRES_PASSWORD='${PASSWORD}'
WAYGATE_SECRET_KEY=${secret()}
WAYGATE_BACKUP_KEY=${secret()}
WAYGATE_ADMIN_TOKEN=${ADMIN_TOKEN}
WAYGATE_OWNER_EMAIL=${OWNER.email}
WAYGATE_OWNER_PASSWORD='${OWNER.password}'
# Nothing listens there: no test may reach the real network.
WAYGATE_WHATSAPP_URL=ws://127.0.0.1:1/
WAYGATE_MAX_LAG=0s
`;

let postgres: TestPostgres;
let files: Awaited<ReturnType<typeof makeScratchDir>>;

beforeAll(buildDist);

// Creates the role and database `waygate` with the password of `.env`, as Compose does.
beforeEach(async () => {
  postgres = await startTestPostgres();
  files = await makeScratchDir("waygate-compose-");
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`alter role current_user password ${client.escapeLiteral(PASSWORD)}`);
  await client.end();
  return async () => {
    await postgres.stop();
    await files.remove();
  };
});

/** Starts the gateway with the file's environment, adapted to this machine's ports. */
async function startService(file: string, service: string) {
  const environment = readCompose(file, DOT_ENV).environmentOf(service);
  const { host } = new URL(postgres.url);
  const here = Object.entries(environment).map(([name, value]) => [
    name,
    value.replace("@postgres:5432/", `@${host}/`).replace(/^\/data(?=\/|$)/, `${files.path}/data`),
  ]);
  const gateway = launchGateway({ ...Object.fromEntries(here), WAYGATE_PORT: "0" });
  onTestFinished(() => void gateway.kill("SIGKILL"));
  const url = await gateway.listening;
  return {
    url,
    client: createClient({ baseUrl: url }),
    admin: createClient({ baseUrl: url, adminToken: ADMIN_TOKEN }),
  };
}

async function isReady(url: string): Promise<boolean> {
  return (await fetch(`${url}/health/ready`)).status === 200;
}

test("the gateway of docker-compose.yml starts with exactly its environment and makes a verified backup", async () => {
  const { url, client, admin } = await startService("docker-compose.yml", "waygate");
  await waitUntil(() => isReady(url));
  expect((await client.login(OWNER)).token).toBeTruthy();
  // The backup opens its own connections, also to the database of the restore test.
  const { data } = await admin.createBackup({});
  await waitUntil(async () => {
    const { data: backups } = await admin.listBackups({});
    return backups.some(({ id, status }) => id === data.id && status === "verified");
  });
});
