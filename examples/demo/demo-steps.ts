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
export async function signInAsOwner({ tell, url }: DemoContext, owner: { email: string; password: string }) {
  tell.step("Sign in");
  const { token, accountId } = await createClient({ baseUrl: url }).login(owner);
  tell.say(`POST /api/auth/login as ${owner.email}: a token for account ${accountId}.`);
  return createClient({ baseUrl: url, token });
}

/** Creates an instance on the sandbox network and pairs it by QR, as a phone would. */
export async function pairInstance(
  stage: DemoContext,
  owner: ReturnType<typeof createClient>,
  name: string,
): Promise<DemoParticipant> {
  const { tell, receiver } = stage;
  tell.step(`Create and pair the instance "${name}"`);
  const { data } = await owner.createInstance({ name, network: "sandbox", webhook_url: receiver.url });
  const person: DemoParticipant = {
    id: data.id,
    name,
    phone: "",
    api_key: data.api_key,
    secret: data.webhook_secret,
  };
  receiver.trust(person.id, person.secret);
  tell.say(`POST /api/v1/instances: instance ${person.id}, with an API key and a webhook secret of its own.`);
  const client = createParticipantClient(stage, person);
  const { data: connecting } = await client.connectInstance({ id: person.id });
  tell.say(`POST .../connect: status ${connecting.status}.`);
  await waitForWebhook(stage, "instance.qr", person);
  await client.sandboxScan({ id: person.id });
  tell.say("POST .../sandbox/scan: a phone of the sandbox network scans the QR.");
  await waitForWebhook(stage, "instance.connected", person);
  const { data: status } = await client.getInstanceStatus({ id: person.id });
  if (!status.connected || !status.phone) throw new DemoFailure(`${name} was paired and is not connected.`);
  tell.say(`${name} is connected as +${status.phone}.`);
  return { ...person, phone: status.phone };
}

/** Sends a text from one side to the other and waits for the acknowledgement. */
export async function sendText(
  stage: DemoContext,
  from: DemoParticipant,
  to: DemoParticipant,
  text: string,
): Promise<void> {
  stage.tell.step(`${from.name} writes to ${to.name}`);
  const startedAt = performance.now();
  const { data } = await createParticipantClient(stage, from).sendText({
    id: from.id,
    number: to.phone,
    text,
  });
  const took = Math.round(performance.now() - startedAt);
  stage.tell.say(
    `POST .../send-text answers after the network has taken it (${took} ms): status ${data.status}.`,
  );
  const isIt = ({ event }: { event: { data: { message?: { text: string | null } } } }) =>
    event.data.message?.text === text;
  await waitForWebhook(stage, "message.sent", from, isIt);
  await waitForWebhook(stage, "message.received", to, isIt);
}

/** Shows that a receiver rejects a forged webhook. */
export async function rejectForgedWebhook(stage: DemoContext, person: DemoParticipant): Promise<void> {
  stage.tell.step("Somebody forges a webhook");
  const genuine = stage.receiver.delivered.find(({ event }) => event.instance.id === person.id);
  if (!genuine) throw new DemoFailure(`No webhook of ${person.name} has come.`);
  const forged = Buffer.from(genuine.raw);
  // The forgery is still valid JSON, so that only the signatures can reveal it.
  const at = forged.indexOf(person.name);
  forged[at] = (forged[at] ?? 0) ^ 1;
  const { own, standard } = await verifySignatures({ headers: genuine.headers, body: forged }, person.secret);
  if (own || standard) throw new DemoFailure("A webhook with one changed bit was taken for a genuine one.");
  stage.tell.say("The same headers with one bit of the body changed: both signatures are found to be wrong.");
}
