import { guardProcess } from "./guard-process.ts";
import { installPooledStorage } from "./pooled-storage.ts";
import { quietLibsignal } from "./quiet.ts";

export interface LoadOptions {
  url: string | undefined;
  /** Hex; of a test server on this machine. */
  rootKey: string | undefined;
  /** Of works that the client library starts and forgets. */
  onFailure(error: unknown): void;
}

/** What needs the client library. */
export interface Library {
  Connection: typeof import("./connection.ts")["Connection"];
  pair: typeof import("./pairing/pairing.ts")["pair"];
  readCredentials: typeof import("./credentials.ts")["readCredentials"];
}

/** Loads the client library, which takes time and memory, and mends what must be mended before its first use. */
export async function loadLibrary({ url, rootKey, onFailure }: LoadOptions): Promise<Library> {
  quietLibsignal();
  installPooledStorage();
  guardProcess(onFailure);
  const { repairSignatures, trustRoot } = await import("./signatures.ts");
  repairSignatures();
  if (url !== undefined && rootKey !== undefined) trustRoot(url, rootKey);
  const parts = [
    import("./connection.ts"),
    import("./pairing/pairing.ts"),
    import("./credentials.ts"),
  ] as const;
  const [{ Connection }, { pair }, { readCredentials }] = await Promise.all(parts);
  return { Connection, pair, readCredentials };
}
