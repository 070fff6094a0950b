import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A URL that a gateway can use as its own before it listens, and keep across restarts. */
export interface StableAddress {
  readonly url: string;
  close(): void;
}

/** `target` returns the gateway's current URL. Without one, connections are closed. */
export async function startStableAddress(target: () => string | undefined): Promise<StableAddress> {
  const sockets = new Set<Socket>();
  const server = createServer((from) => {
    const url = target();
    if (url === undefined) return from.destroy();
    const to = connect(Number(new URL(url).port), "127.0.0.1");
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          for (const end of [from, to]) end.destroy();
          sockets.delete(socket);
        });
    }
    from.pipe(to).pipe(from);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
