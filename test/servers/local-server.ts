import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that keeps its port while it is shut. */
export interface LocalServer {
  readonly server: Server;
  readonly port: number;
  /** Without a trailing slash. */
  readonly url: string;
  open(): Promise<void>;
  /** Closes the port and breaks all connections. */
  shut(): Promise<void>;
}

export async function startLocalServer(handler: RequestListener): Promise<LocalServer> {
  const server = createServer(handler);
  let port = 0;
  const open = () =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => resolve());
    });
  await open();
  port = (server.address() as AddressInfo).port;
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    open,
    shut: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
