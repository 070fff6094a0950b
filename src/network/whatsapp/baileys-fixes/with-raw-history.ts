// Baileys 7.0.0-rc14 drops what its schema of the history does not know, such as the salt for first contacts.
// Upstream: https://github.com/WhiskeySockets/Baileys/pull/2438 (open) extends the schema.
import { AsyncLocalStorage } from "node:async_hooks";
import { proto } from "baileys";

type Reader = (raw: Uint8Array, history: proto.HistorySync) => void;

const reading = new AsyncLocalStorage<Reader>();
let isInstalled = false;

/** Passes the bytes of each history that Baileys decodes within `handle` to `read`. */
export function withRawHistory<R>(read: Reader, handle: () => R): R {
  install();
  return reading.run(read, handle);
}

function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { decode } = proto.HistorySync;
  proto.HistorySync.decode = (reader, length) => {
    const history = decode(reader, length);
    if (reader instanceof Uint8Array) reading.getStore()?.(reader, history);
    return history;
  };
}
