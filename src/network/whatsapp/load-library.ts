import { ignoreBaileysRejections } from "./guard-process.ts";
import { patchAsyncLocalStorage } from "./pooled-storage.ts";
import { silenceLibsignalLog } from "./quiet.ts";

export interface LoadBaileysOptions {
  url: string | undefined;
  /** Hex; of a test server on this machine. */
  rootKey: string | undefined;
  /** Of works that the client library starts and forgets. */
  onFailure(error: unknown): void;
}

/** What needs the client library. */
export interface BaileysModule {
  Connection: typeof import("./connection.ts")["WhatsAppConnection"];
  pair: typeof import("./pairing/pairing.ts")["pairDevice"];
  readCredentials: typeof import("./credentials.ts")["parseCredentials"];
}

/** Loads the client library, which takes time and memory, and mends what must be mended before its first use. */
export async function loadBaileys({ url, rootKey, onFailure }: LoadBaileysOptions): Promise<BaileysModule> {
  silenceLibsignalLog();
  patchAsyncLocalStorage();
  ignoreBaileysRejections(onFailure);
  const { fixSignatureVerification, trustRootKey } = await import("./signatures.ts");
  fixSignatureVerification();
  if (url !== undefined && rootKey !== undefined) trustRootKey(url, rootKey);
  const parts = [
    import("./connection.ts"),
    import("./pairing/pairing.ts"),
    import("./credentials.ts"),
  ] as const;
  const [{ WhatsAppConnection }, { pairDevice: pair }, { parseCredentials: readCredentials }] =
    await Promise.all(parts);
  return { Connection: WhatsAppConnection, pair, readCredentials };
}
