import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type Database, openDatabase } from "../../src/platform/db/database.ts";

export interface DatabaseProxy {
  url: string;
  database: Database;
  /** Closes all connections and accepts no new ones. */
  cut(): void;
  /** Forwards nothing on existing and new connections until `restore`, without closing them. */
  silence(): void;
  restore(): void;
  /** Connections refused while it was cut. */
  refused(): number;
  close(): Promise<void>;
}

/** A TCP proxy to the database that can be cut or go silent. */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isCut = false;
  let isSilent = false;
  let refused = 0;
  const server = createServer((from) => {
    const to = connect(Number(target.port), target.hostname);
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => [from, to].forEach((one) => void one.destroy()));
    }
    if (isCut) refused += 1;
    if (isCut) from.destroy();
    else if (isSilent) from.resume();
    else from.pipe(to).pipe(from);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String((server.address() as AddressInfo).port);
  const database = openDatabase(through.href);
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: through.href,
    database,
    cut,
    refused: () => refused,
    silence() {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().resume();
    },
    restore() {
      [isCut, isSilent] = [false, false];
    },
    async close() {
      await database.close();
      cut();
      server.close();
    },
  };
}
