import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { phoneJid } from "../../../src/network/jid.ts";
import { percentile } from "../../run/process-figures.ts";
import { RawClient, textOf } from "../../whatsapp-server/process/raw-client.ts";
import { connectControl } from "../../whatsapp-server/process/remote-control.ts";
import type { WhatsAppServerProcess } from "../../whatsapp-server/process/server-process.ts";
import { silenceConsole } from "../../whatsapp-server/protocol/silence-log.ts";
import { hardenSignatures, trustRoot } from "../../whatsapp-server/protocol/trust.ts";
import type { WhatsAppServer } from "../../whatsapp-server/server.ts";
import { type LoadFigures, runClosedLoop } from "../closed-loop.ts";
import { serveRequests } from "./bench-process.ts";
import type { ReceivedFigures } from "./webhook-receiver.ts";

export type BareLibrary = typeof handlers;

interface PairedClient {
  client: RawClient;
  phone: string;
}

const paired: PairedClient[] = [];
const delays: number[] = [];
let [resetAt, lastAt] = [0, 0];

/** Plain Baileys with keys in memory: the upper bound for a gateway that uses it. */
const handlers = {
  /** Pairs until there are so many sessions. Returns their phones. */
  async pair(input: {
    network: WhatsAppServerProcess;
    controlUrl: string;
    sessions: number;
  }): Promise<string[]> {
    trustRoot(input.network.rootKeyHex);
    hardenSignatures();
    while (paired.length < input.sessions) paired.push(await pairOne(input.network, input.controlUrl));
    return paired.map(({ phone }) => phone);
  },

  async greet({ sessions, numbers }: { sessions: number; numbers: string[] }): Promise<void> {
    await Promise.all(
      paired.slice(0, sessions).map(async ({ client }) => {
        for (const number of numbers) await sendText(client, number, "hello");
      }),
    );
  },

  async send(load: {
    sessions: number;
    connections: number;
    seconds: number;
    numbers: string[];
  }): Promise<LoadFigures> {
    const { sessions, numbers } = load;
    return runClosedLoop(load, async (n) => {
      const number = numbers[Math.floor(n / sessions) % numbers.length];
      await sendText(paired[n % sessions]?.client, number ?? "", `text ${n}`);
      await nextTurn();
    });
  },

  async reset(_: null): Promise<void> {
    delays.length = 0;
    resetAt = performance.now();
    lastAt = resetAt;
  },

  async read(_: null): Promise<ReceivedFigures> {
    const at = (share: number) => percentile(delays, share);
    const tookMs = lastAt - resetAt;
    return { count: delays.length, repeated: 0, p50: at(0.5), p99: at(0.99), max: at(1), tookMs };
  },
};

silenceConsole();
serveRequests(handlers);

async function pairOne(network: WhatsAppServerProcess, controlUrl: string): Promise<PairedClient> {
  const control = connectControl(controlUrl);
  const { phone } = await control.addPerson();
  const client = new RawClient(network as unknown as WhatsAppServer, { connectTimeoutMs: 20_000 });
  client.connect();
  while (!client.qr) await sleep(5);
  await control.scan(phone, client.qr);
  while (client.closes.length === 0) await sleep(5);
  const socket = client.connect();
  while (client.opened === 0) await sleep(5);
  socket.ev.on("messages.upsert", ({ messages }) => {
    for (const message of messages) record(textOf(message));
  });
  return { client, phone };
}

function record(text: string): void {
  const [word, due] = text.split(" ");
  if (word !== "at") return;
  delays.push(Date.now() - Number(due));
  lastAt = performance.now();
}

async function sendText(client: RawClient | undefined, number: string, text: string): Promise<void> {
  if (!client) throw new Error("Pair the sessions of the library before a load.");
  await client.socket.sendMessage(phoneJid(number), { text });
}
