import pg from "pg";
import type { CredentialStore } from "../../src/network/driver.ts";
import { createSandboxControl } from "../../src/network/sandbox/sandbox-control.ts";
import { createSandboxDriver, type SandboxDriver } from "../../src/network/sandbox/sandbox-driver.ts";
import type { SandboxTiming } from "../../src/network/sandbox/sandbox-timing.ts";
import type { SandboxControl } from "../../src/network/sandbox-control.ts";
import { RecordingSession } from "../conformance/listener.ts";
import { createTestDatabase, type TestDatabase } from "../database.ts";

/** The connection of one process to the network. */
export interface SandboxProcess {
  pool: pg.Pool;
  driver: SandboxDriver;
  /** Controls account 1 on the network. */
  control: SandboxControl;
  controlOf(account_id: number): SandboxControl;
  open(credentials?: CredentialStore, account_id?: number): RecordingSession;
  /** A paired session of account 1 or another one, with a new number by default. */
  pair(phone?: string, account_id?: number): Promise<RecordingSession>;
  /** Like kill -9. */
  kill(): Promise<void>;
}

export interface TestSandboxNetwork extends SandboxProcess {
  url: string;
  /** Another process on the same database. */
  startProcess(): SandboxProcess;
  stop(): Promise<void>;
}

/** A sandbox network with short waits. A given database is emptied, and not dropped at the end. */
export async function startSandboxNetwork({
  store: existing,
  ...timing
}: Partial<SandboxTiming> & { store?: TestDatabase } = {}): Promise<TestSandboxNetwork> {
  const store = existing ?? (await createTestDatabase());
  const { url } = store;
  const processes: SandboxProcess[] = [];
  const startProcess = () => {
    const process = startSandboxProcess(url, {
      reconnectMs: 40,
      redeliverMs: 200,
      closeMs: 20_000,
      ...timing,
    });
    processes.push(process);
    return process;
  };
  const stop = async () => {
    await Promise.all(processes.map((one) => one.kill()));
    await (existing ? emptyNetwork(existing) : store.drop());
  };
  return { ...startProcess(), url, startProcess, stop };
}

async function emptyNetwork({ database }: TestDatabase): Promise<void> {
  await database.pool.query(
    `truncate sandbox.device, sandbox.pairing, sandbox.inbox, sandbox.message, sandbox.media, sandbox.ledger,
       sandbox.person, sandbox.picture, sandbox.address_book, sandbox.chat_state, sandbox.label, sandbox.group_chat,
       sandbox.group_member`,
  );
}

function startSandboxProcess(url: string, timing: Partial<SandboxTiming>): SandboxProcess {
  const pool = new pg.Pool({ connectionString: url });
  const driver = createSandboxDriver({ pool, timing });
  const controlOf = (account_id: number) => createSandboxControl(pool, account_id);
  const open = (credentials = storeInMemory(), account_id = 1) =>
    new RecordingSession(driver, credentials, { account_id });
  return {
    pool,
    driver,
    control: controlOf(1),
    controlOf,
    open,
    async pair(phone, account_id = 1) {
      const listener = open(undefined, account_id);
      await listener.pair({ scan: (qr) => controlOf(account_id).scan(qr, phone) });
      return listener;
    },
    async kill() {
      driver.terminate();
      if (!pool.ending) await pool.end();
    },
  };
}

/** Credentials in memory. */
export function storeInMemory(): CredentialStore {
  let kept: Uint8Array | undefined;
  return {
    load: async () => kept,
    save: async (credentials) => {
      kept = credentials;
    },
    erase: async () => {
      kept = undefined;
    },
    loadRegistration: async () => undefined,
    saveRegistration: async () => {},
  };
}
