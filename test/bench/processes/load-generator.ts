import { Agent } from "undici";
import { connectControl } from "../../whatsapp-server/process/remote-control.ts";
import { type ClosedLoad, type LoadFigures, runClosedLoop, summariseLoad } from "../closed-loop.ts";
import { offer, type Pace } from "../event-source.ts";
import type { GatewaySession } from "../measured-gateway.ts";
import { serveRequests } from "./bench-process.ts";

/** Connection limit of an open loop, which does not wait for responses. */
const OPEN_CONNECTIONS = 256;
/** Concurrent senders of a burst. More do not make the WhatsApp server faster. */
const BURST_WORKERS = 20;

export type LoadPace = ClosedLoad | Pace;

export interface SendLoad {
  baseUrl: string;
  sessions: readonly GatewaySession[];
  /** Each session writes to each number in turn. */
  numbers: readonly string[];
  pace: LoadPace;
}

export interface InboundLoad {
  controlUrl: string;
  /** Senders, and phones of the sessions. */
  people: readonly string[];
  phones: readonly string[];
  /** A burst is sent as fast as the server can. */
  pace: Pace | { burst: number };
}

export type LoadGenerator = typeof handlers;

const handlers = {
  /** Sends one text from each session to each number, which sets up their encryption. */
  async greet({ sessions, numbers, ...load }: SendLoad): Promise<void> {
    const send = createSender({ ...load, sessions, numbers }, sessions.length);
    await Promise.all(
      sessions.map(async (_, session) => {
        for (const number of numbers.keys()) await send(session + number * sessions.length);
      }),
    );
  },

  async send(load: SendLoad): Promise<LoadFigures> {
    const { pace } = load;
    const isClosed = "connections" in pace;
    const send = createSender(load, isClosed ? pace.connections : OPEN_CONNECTIONS);
    if (isClosed) return runClosedLoop(pace, send);
    return runOpenLoop(pace, send);
  },

  /** Each text is `at <due time> <number>`, from which the receiver computes the delay. */
  async receive({ controlUrl, people, phones, pace }: InboundLoad): Promise<LoadFigures> {
    const control = connectControl(controlUrl);
    const say = (n: number, dueAt: number) => {
      const due = Date.now() - (performance.now() - dueAt);
      const from = people[Math.floor(n / phones.length) % people.length] ?? "";
      return control.sendMessage(from, phones[n % phones.length] ?? "", `at ${due.toFixed(0)} ${n}`);
    };
    if (!("burst" in pace)) return runOpenLoop(pace, say);
    const load = { connections: BURST_WORKERS, count: pace.burst };
    return runClosedLoop(load, (n) => say(n, performance.now()));
  },
};

serveRequests(handlers);

/** The rate includes the time until the last action ends, which exceeds the pace if the gateway falls behind. */
async function runOpenLoop(pace: Pace, act: Parameters<typeof offer>[1]): Promise<LoadFigures> {
  const began = performance.now();
  const offered = await offer(pace, act);
  const tookSeconds = (performance.now() - began) / 1000;
  return summariseLoad(offered, Math.max(pace.seconds, tookSeconds));
}

/** Distributes texts over sessions, then over the numbers of each. */
function createSender(
  { baseUrl, sessions, numbers }: Omit<SendLoad, "pace">,
  connections: number,
): (n: number) => Promise<void> {
  const agent = new Agent({ connections });
  return async (n) => {
    const session = sessions[n % sessions.length];
    const number = numbers[Math.floor(n / sessions.length) % numbers.length];
    if (!session || number === undefined) throw new Error("A load needs a session and a number.");
    await sendText(agent, baseUrl, session, { number, text: `text ${n}` });
  };
}

async function sendText(
  agent: Agent,
  origin: string,
  { id, key }: GatewaySession,
  text: object,
): Promise<void> {
  const response = await agent.request({
    origin,
    path: `/api/v1/instances/${id}/send-text`,
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify(text),
  });
  const body = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${response.statusCode}: ${body.slice(0, 200)}`);
}
