import { createClient } from "../../src/client/client.ts";
import {
  createParticipantClient,
  type DemoContext,
  DemoFailure,
  type DemoParticipant,
  waitForWebhook,
} from "./demo-context.ts";
import { verifySignatures } from "./demo-receiver.ts";

/** Signs in as the owner and returns a client that may create instances. */
export async function signInAsOwner(
  { output, url }: DemoContext,
  owner: { email: string; password: string },
) {
  output.step("Sign in");
  const { token, accountId } = await createClient({ baseUrl: url }).login(owner);
  output.print(`POST /api/auth/login as ${owner.email}: a token for account ${accountId}.`);
  return createClient({ baseUrl: url, token });
}

/** Creates an instance on the sandbox network and pairs it by QR, as a phone would. */
export async function pairInstance(
  demo: DemoContext,
  owner: ReturnType<typeof createClient>,
  name: string,
): Promise<DemoParticipant> {
  const { output, receiver } = demo;
  output.step(`Create and pair the instance "${name}"`);
  const { data } = await owner.createInstance({ name, network: "sandbox", webhook_url: receiver.url });
  const participant: DemoParticipant = {
    id: data.id,
    name,
    phone: "",
    api_key: data.api_key,
    secret: data.webhook_secret,
  };
  receiver.trust(participant.id, participant.secret);
  output.print(
    `POST /api/v1/instances: instance ${participant.id}, with an API key and a webhook secret of its own.`,
  );
  const client = createParticipantClient(demo, participant);
  const { data: connecting } = await client.connectInstance({ id: participant.id });
  output.print(`POST .../connect: status ${connecting.status}.`);
  await waitForWebhook(demo, "instance.qr", participant);
  await client.sandboxScan({ id: participant.id });
  output.print("POST .../sandbox/scan: a phone of the sandbox network scans the QR.");
  await waitForWebhook(demo, "instance.connected", participant);
  const { data: status } = await client.getInstanceStatus({ id: participant.id });
  if (!status.connected || !status.phone) throw new DemoFailure(`${name} was paired and is not connected.`);
  output.print(`${name} is connected as +${status.phone}.`);
  return { ...participant, phone: status.phone };
}

/** Sends a text from one side to the other and waits for the acknowledgement. */
export async function sendText(
  demo: DemoContext,
  from: DemoParticipant,
  to: DemoParticipant,
  text: string,
): Promise<void> {
  demo.output.step(`${from.name} writes to ${to.name}`);
  const startedAt = performance.now();
  const { data } = await createParticipantClient(demo, from).sendText({
    id: from.id,
    number: to.phone,
    text,
  });
  const took = Math.round(performance.now() - startedAt);
  demo.output.print(
    `POST .../send-text returns once the network has acknowledged it (${took} ms): status ${data.status}.`,
  );
  const isIt = ({ event }: { event: { data: { message?: { text: string | null } } } }) =>
    event.data.message?.text === text;
  await waitForWebhook(demo, "message.sent", from, isIt);
  await waitForWebhook(demo, "message.received", to, isIt);
}

/** Shows that a receiver rejects a forged webhook. */
export async function rejectForgedWebhook(demo: DemoContext, participant: DemoParticipant): Promise<void> {
  demo.output.step("Receive a forged webhook");
  const genuine = demo.receiver.delivered.find(({ event }) => event.instance.id === participant.id);
  if (!genuine) throw new DemoFailure(`No webhook of ${participant.name} has arrived.`);
  const forged = Buffer.from(genuine.raw);
  // The forgery is still valid JSON, so that only the signatures can reveal it.
  const at = forged.indexOf(participant.name);
  forged[at] = (forged[at] ?? 0) ^ 1;
  const { own, standard } = await verifySignatures(
    { headers: genuine.headers, body: forged },
    participant.secret,
  );
  if (own || standard) throw new DemoFailure("A webhook with one changed bit passed the verification.");
  demo.output.print("The same headers, one bit of the body changed: both signatures are rejected.");
}
