import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/** A hundred headers or so. Smaller pieces would make files cost more. */
const PIECE = 1024;

/**
 * Hands undici's parser small pieces, and none once the socket is closed. When the headers exceed its limit, it creates
 * an error for each further header of the piece. A piece of 64 kB would stop the process for 0.1 s and more.
 */
export function readInPieces(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      if (socket) limitReads(socket);
      callback(...result);
    });
}

function limitReads(socket: Socket): void {
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    if (socket.destroyed) return null;
    return read(size ?? (Math.min(socket.readableLength, PIECE) || undefined));
  };
}
