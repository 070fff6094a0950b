import type { Server } from "node:http";
import type { Socket } from "node:net";

export interface TrackedConnections {
  closeUnused(): void;
  /** Requests that are arriving or being answered. */
  requests(): number;
}

/**
 * Lets a server close at once if connections are idle, such as those that browsers open in advance. Node
 * itself would wait for their first request.
 */
export function trackConnections(server: Server): TrackedConnections {
  const answering = new Map<Socket, number>();
  let isClosing = false;
  let requests = 0;
  server.on("connection", (socket) => {
    answering.set(socket, 0);
    socket.once("close", () => answering.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    requests += 1;
    response.once("close", () => {
      requests -= 1;
      const left = (answering.get(socket) ?? 1) - 1;
      if (!socket.destroyed) answering.set(socket, left);
      if (isClosing && left === 0) socket.end();
    });
  });
  return {
    closeUnused() {
      isClosing = true;
      for (const [socket, count] of answering) if (count === 0) socket.destroy();
    },
    requests: () => requests,
  };
}
