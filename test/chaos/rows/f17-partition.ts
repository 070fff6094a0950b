import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type AcknowledgedSend, readStoryLedgers, sendAll, toClientSends } from "../../e2e/send-history.ts";
import { startWhatsAppStory, type WhatsAppStory } from "../../e2e/whatsapp-story.ts";
import { waitUntil } from "../../gateway.ts";
import type { Random } from "../../run/seeded-random.ts";
import type { ChaosRow, Round, RoundFigures } from "../chaos-row.ts";
import { atMost, IN_FLIGHT, toRoundFigures } from "../report.ts";
import { readWhatsApp } from "../whatsapp-ledger.ts";

interface Pair {
  from: Socket;
  to: Socket;
  /** Drops all bytes from the client. */
  isDeaf: boolean;
}

/** A TCP proxy with network faults. */
export interface UnreliableProxy {
  port: number;
  /** Stops forwarding without closing connections, until `mend`. */
  hole(): void;
  /** Delays some bytes, like retransmissions, until `mend`. */
  lose(share: number): void;
  restore(): void;
  /** Closes the server's side without notifying the client. */
  halfOpen(): void;
  /** Sends RST to both sides. */
  reset(): void;
  close(): Promise<void>;
}

const LATE_MS = { min: 200, max: 800 };

export async function startUnreliableProxy(
  target: { host: string; port: number },
  random: Random,
): Promise<UnreliableProxy> {
  const pairs = new Set<Pair>();
  let lost = 0;
  let healed = Promise.resolve();
  let heal = (): void => {};

  /** Preserves the order of the bytes, however long each part is delayed. */
  async function carry(pair: Pair, source: Socket, sink: Socket): Promise<void> {
    try {
      for await (const part of source) {
        if (random.next() < lost) await delay(random.between(LATE_MS.min, LATE_MS.max));
        await healed;
        if (!pair.isDeaf) sink.write(part as Buffer);
      }
    } catch {}
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

/** The session sends a keep-alive every 25 s. */
const LEAVES_WITHIN_SECONDS = 25 + 30;
const PEOPLE = 4;
const SENDS = 24;

interface Variant {
  what: string;
  begin(line: UnreliableProxy): void;
  /** Duration; without one the fault lasts until the session notices it. */
  seconds?: number;
  /** Whether the session notices it. */
  isNoticed?: boolean;
}

const hole = (line: UnreliableProxy) => line.hole();
const VARIANTS: readonly Variant[] = [
  { what: "RST", begin: (line) => line.reset(), seconds: 0 },
  { what: "loss of 30 %", begin: (line) => line.lose(0.3), seconds: 15 },
  { what: "black hole of 5 s", begin: hole, seconds: 5 },
  { what: "black hole of 60 s", begin: hole, seconds: 60, isNoticed: true },
  { what: "half-open", begin: (line) => line.halfOpen(), isNoticed: true },
];
/** Only in the first round, because it takes most of its time. */
const LONG_HOLE: Variant = { what: "black hole of 10 min", begin: hole, seconds: 600, isNoticed: true };

export const f17: ChaosRow = {
  id: "F17",
  fault: "a bad line to the network: RST, loss, black hole of 5 s, 60 s and 10 min, half-open",
  async run(round) {
    const { on, line } = await begin(round);
    const people: string[] = [];
    for (let i = 0; i < PEOPLE; i++) people.push((await on.network.control.addPerson()).phone);
    await on.start();
    await on.pair();
    const sending: Promise<AcknowledgedSend[]>[] = [];
    const times: RoundFigures["times"] = [];
    const variants = round.number === 1 ? [...VARIANTS, LONG_HOLE] : VARIANTS;
    for (const variant of variants) {
      const plan = Array.from({ length: SENDS }, (_, i) => {
        return { text: `${variant.what.replace(/\W+/g, "-")}-${i}`, number: people[i % PEOPLE] ?? "" };
      });
      sending.push(sendAll(on.story, on.instance, plan));
      const seconds = await breakLine(on, line, variant);
      if (variant.isNoticed) {
        times.push({ what: `${variant.what}: leaves connected after`, seconds, bar: LEAVES_WITHIN_SECONDS });
      }
      await waitUntil(() => isOnline(on), 240_000);
    }
    const accepted = (await Promise.all(sending)).flat();
    await on.story.drained(300_000);
    const network = await readWhatsApp(on.network.control);
    const ledgers = await readStoryLedgers(on.story, { sends: toClientSends(accepted), network });
    // Only the connection to the network breaks.
    const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, deliveries: 0, kills: variants.length });
    const open = await on.network.control.maxOpenAtOnce();
    const breaches = [
      ...figures.breaches,
      ...atMost(0, "texts shown twice", await shownTwice(on, people)),
      ...atMost(1, "open sockets of a session", open),
    ];
    return { ...figures, times, breaches };
  },
};

async function begin(round: Round): Promise<{ on: WhatsAppStory; line: UnreliableProxy }> {
  let line: UnreliableProxy | undefined;
  const on = await startWhatsAppStory({
    server: round.databaseUrl,
    async proxyNetwork(straight) {
      const url = new URL(straight);
      line = await startUnreliableProxy({ host: url.hostname, port: Number(url.port) }, round.random);
      url.port = String(line.port);
      return url.href;
    },
  });
  if (!line) throw new Error("nobody has laid the line");
  const { close } = line;
  round.afterwards(() => on.end().finally(close));
  return { on, line };
}

/** Seconds until the status is no longer connected, if that is expected. */
async function breakLine(on: WhatsAppStory, line: UnreliableProxy, variant: Variant): Promise<number> {
  const began = performance.now();
  const logins = await countLogins(on);
  variant.begin(line);
  const hasLeft = async () => !(await on.story.isConnected(on.instance)) || (await countLogins(on)) > logins;
  if (variant.isNoticed) await waitUntil(hasLeft, 180_000);
  const seconds = (performance.now() - began) / 1000;
  await delay(Math.max(0, (variant.seconds ?? 0) - seconds) * 1000);
  line.restore();
  return seconds;
}

async function countLogins({ network, instance }: WhatsAppStory): Promise<number> {
  const { sockets } = await network.control.ledger();
  return sockets.filter(({ phone, logged_in_at }) => phone === instance.phone && logged_in_at).length;
}

async function isOnline({ network, instance, story }: WhatsAppStory): Promise<boolean> {
  const { devices } = await network.control.person(instance.phone);
  return devices.some(({ online }) => online) && (await story.isConnected(instance));
}

async function shownTwice({ network }: WhatsAppStory, people: readonly string[]): Promise<string[]> {
  const twice: string[] = [];
  for (const phone of people) {
    const texts = (await network.control.seen(phone)).flatMap((one) =>
      one.type === "message" && one.content.kind === "text" ? [one.content.text] : [],
    );
    twice.push(...texts.filter((text, index) => texts.indexOf(text) < index));
  }
  return twice;
}
