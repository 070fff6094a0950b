import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "./seeded-random.ts";

/** A TCP connection through us, with what is done to it. */
interface Pair {
  from: Socket;
  to: Socket;
  /** What the client says goes nowhere, and it hears nothing. */
  isDeaf: boolean;
}

/** A way for TCP connections that can go bad. */
export interface BadLine {
  port: number;
  /** Nothing passes any more and nothing is closed, for old and new connections, until `mend`. */
  hole(): void;
  /** Some of what passes is late, as a retransmission is, until `mend`. */
  lose(share: number): void;
  mend(): void;
  /** The far end is closed, the client is not told. */
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

  /** In order, whatever happens to a part of it. */
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
  const mend = (): void => {
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
    mend,
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
      mend();
      for (const { from, to } of pairs) {
        from.destroy();
        to.destroy();
      }
      server.close();
      await once(server, "close");
    },
  };
}
