import { createAccount } from "../../src/core/accounts/users/create-account.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { createSandboxControl } from "../../src/network/sandbox/sandbox-control.ts";
import type { SandboxControl } from "../../src/network/sandbox-control.ts";
import type { Database } from "../../src/platform/db/database.ts";
import { createSecretBox, type SecretBox } from "../../src/platform/secrets/secret-box.ts";
import { startTestGateway } from "../gateway.ts";
import { createHttpRequester, type HttpRequester } from "../http-requester.ts";
import { PASSWORD, signIn } from "../sign-in.ts";

const SECRET_KEY = "8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e";

/** A whole gateway with raw HTTP access for tests of accounts and instances. */
export interface InstanceGateway {
  call: HttpRequester;
  database: Database;
  readonly engine: Engine;
  box: SecretBox;
  /** Controls the phones of an account in the sandbox. */
  phonesOf(account_id: number): SandboxControl;
  owner_account: number;
  /** A new account with the headers of its user. */
  account(): Promise<{ account_id: number; user: Record<string, string> }>;
  /** Restarts the gateway on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startInstanceGateway(): Promise<InstanceGateway> {
  const running = await startTestGateway({
    WAYGATE_SECRET_KEY: SECRET_KEY,
    WAYGATE_BASE_URL: "https://gateway.example",
    WAYGATE_NETWORK: "sandbox",
    WAYGATE_SANDBOX: "on",
  });
  const { database } = running;
  const request = createHttpRequester(() => running.url);
  const { data } = await running.owner.me();
  let accounts = 0;
  return {
    call: request,
    database,
    box: createSecretBox(SECRET_KEY),
    get engine() {
      return running.gateway.engine;
    },
    phonesOf: (account_id) => createSandboxControl(database.pool, account_id),
    owner_account: data.account.id,
    async account() {
      const email = `user${accounts++}@example.com`;
      const made = { name: `Shop ${accounts}`, account_type: "client" as const, email, password: PASSWORD };
      const { account_id } = await createAccount(database.db, made);
      const { headers: user } = await signIn(running.url, { email });
      return { account_id, user };
    },
    restart: () => running.restart(),
    stop: () => running.stop(),
  };
}
