import type { Socket } from "node:net";

const FIRST_BYTES = 128 * 1024;
const PER_MESSAGE_BYTES = 64 * 1024;
const MOST_BYTES = 16 * 1024 * 1024;

/** A socket received more than a broker has reason to send. */
class TooMuchReceivedError extends Error {
  override readonly name = "TooMuchReceivedError";
}

/** Bounds what the server of a connection can make this process keep: its greeting, and a little for each message. */
export class ReceiveAllowance {
  #left = FIRST_BYTES;

  /** For a message of this size, which the server may return. */
  extend(bytes: number): void {
    this.#left = Math.min(this.#left + bytes + PER_MESSAGE_BYTES, MOST_BYTES);
  }

  /** Destroys the socket once it has received more. */
  watch(socket: Socket): void {
    const push = socket.push.bind(socket);
    socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      this.#left -= chunk?.length ?? 0;
      if (this.#left >= 0) return push(chunk, encoding);
      socket.destroy(new TooMuchReceivedError("the server sends too much"));
      return false;
    };
  }
}
