import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "./seeded-random.ts";

/** A TCP connection through this proxy, with its faults. */
interface Pair {
  from: Socket;
  to: Socket;
  /** Drops all bytes of the client, which receives nothing. */
  isDeaf: boolean;
}

/** A way for TCP connections that can go bad. */
export interface BadLine {
  port: number;
  /** Blocks old and new connections without closing them, until `mend`. */
  hole(): void;
  /** Delays some bytes, like retransmissions, until `mend`. */
  lose(share: number): void;
  restore(): void;
  /** Closes the far end without notifying the client. */
  halfOpen(): void;
  /** Both ends get a RST. */
  reset(): void;
  close(): Promise<void>;
}

const LATE_MS = { min: 200, max: 800 };

export async function layBadLine(target: { host: string; port: number }, random: Random): Promise<BadLine> {
  const pairs = new Set<Pair>();
  let lost = 0;
  let healed = Promise.resolve();
  let heal = (): void => {};

  /** Keeps the order, whatever happens to single parts. */
  async function carry(pair: Pair, source: Socket, sink: Socket): Promise<void> {
    try {
      for await (const part of source) {
        if (random.next() < lost) await delay(random.between(LATE_MS.min, LATE_MS.max));
        await healed;
        if (!pair.isDeaf) sink.write(part as Buffer);
      }
    } catch {
      // It was reset.
    }
    await healed;
    if (!pair.isDeaf || source === pair.from) sink.destroy();
  }

  const server = createServer((from) => {
    const to = connect(target.port, target.host);
    const pair = { from, to, isDeaf: false };
    pairs.add(pair);
    for (const socket of [from, to]) socket.on("error", () => {});
    void Promise.all([carry(pair, from, to), carry(pair, to, from)]).then(() => pairs.delete(pair));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const restore = (): void => {
    lost = 0;
    heal();
  };
  return {
    port: (server.address() as AddressInfo).port,
    hole() {
      healed = new Promise((resolve) => {
        heal = resolve;
      });
    },
    lose(share) {
      lost = share;
    },
    restore,
    halfOpen() {
      for (const pair of pairs) {
        pair.isDeaf = true;
        pair.to.destroy();
      }
    },
    reset() {
      for (const { from, to } of pairs) {
        from.resetAndDestroy();
        to.resetAndDestroy();
      }
    },
    async close() {
      restore();
      for (const { from, to } of pairs) {
        from.destroy();
        to.destroy();
      }
      server.close();
      await once(server, "close");
    },
  };
}
