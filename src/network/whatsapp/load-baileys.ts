import { ignoreBaileysRejections } from "./baileys-fixes/ignore-baileys-rejections.ts";
import { patchAsyncLocalStorage } from "./baileys-fixes/patch-async-local-storage.ts";
import { silenceLibsignalLog } from "./baileys-fixes/silence-libsignal-log.ts";

export interface LoadBaileysOptions {
  url: string | undefined;
  /** Hex; root key of a test server on this machine. */
  rootKey: string | undefined;
  /** Receives failures of promises that Baileys does not await. */
  onFailure(error: unknown): void;
}

/** The functions that need Baileys. */
export interface BaileysModule {
  Connection: typeof import("./connection/whatsapp-connection.ts")["WhatsAppConnection"];
  pair: typeof import("./pairing/pair-device.ts")["pairDevice"];
  readCredentials: typeof import("./keys/baileys-credentials.ts")["parseCredentials"];
}

/** Loads Baileys on the first call; after a failure the next call tries again. */
export function createBaileysLoader(
  options: LoadBaileysOptions,
  load: (options: LoadBaileysOptions) => Promise<BaileysModule> = loadBaileys,
): () => Promise<BaileysModule> {
  let loading: Promise<BaileysModule> | undefined;
  return () => {
    loading ??= load(options).catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** Loads Baileys, which takes time and memory, and applies the fixes that must precede its first use. */
export async function loadBaileys({ url, rootKey, onFailure }: LoadBaileysOptions): Promise<BaileysModule> {
  silenceLibsignalLog();
  patchAsyncLocalStorage();
  ignoreBaileysRejections(onFailure);
  const { fixSignatureVerification } = await import("./baileys-fixes/fix-signature-verification.ts");
  fixSignatureVerification();
  const { keepLaterFields } = await import("./baileys-fixes/keep-later-fields.ts");
  keepLaterFields();
  const { ackUndecrypted } = await import("./baileys-fixes/acknowledgements/ack-undecrypted.ts");
  ackUndecrypted();
  if (url !== undefined && rootKey !== undefined) {
    const { trustRootKey } = await import("./connection/trust-root-key.ts");
    trustRootKey(url, rootKey);
  }
  const parts = [
    import("./connection/whatsapp-connection.ts"),
    import("./pairing/pair-device.ts"),
    import("./keys/baileys-credentials.ts"),
  ] as const;
  const [{ WhatsAppConnection }, { pairDevice: pair }, { parseCredentials: readCredentials }] =
    await Promise.all(parts);
  return { Connection: WhatsAppConnection, pair, readCredentials };
}
