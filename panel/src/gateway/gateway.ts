import { routes } from "virtual:gateway-routes";
import { type ClientOptions, createMethods } from "../../../packages/client/src/create-methods.ts";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import type { Client } from "../../../src/client/client.ts";
import { passwordReauthentication, sessionReauthentication } from "./reauthentication.ts";
import { announceSignIn } from "./sign-in-channel.ts";
import { reportingOffline } from "./to-request-error.ts";

const options: ClientOptions = { baseUrl: location.origin, fetch: reportingOffline(fetchAsPanel) };

/** The gateway accepts the session cookie only with this header, which no other site can send. */
function fetchAsPanel(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("x-waygate-panel", "1");
  return fetch(url, { ...init, headers, credentials: "same-origin" });
}

const methods = createMethods(routes, options);
/** Without reauthentication: sign-in requests would wait for themselves. */
const plain = methods as unknown as Client;

/** The typed API client of the panel. */
export const gateway = passwordReauthentication.retrying(
  sessionReauthentication.retrying(methods),
) as unknown as Client;

/** Signs in and stores the session. */
export async function signIn(input: {
  email: string;
  password: string;
  account_id?: number;
}): Promise<Signed> {
  const { token, account, user } = (await plain.login(input)).data;
  await keepSession(token);
  announceSignIn();
  return { account, user };
}

/** The signed-in user. Does not ask for a sign-in if there is none. */
export async function readSession(): Promise<Signed> {
  return (await plain.me()).data;
}

/** Signs out. A session that has already ended is no error. */
export async function signOut(): Promise<void> {
  await plain.logout().catch((error) => {
    if (!(error instanceof WaygateError) || error.status !== 401) throw error;
  });
  setToken(undefined);
}

/**
 * Stores the session in an HttpOnly cookie. If the browser rejects it, as over plain HTTP, the token stays in memory
 * and a reload signs out. Call it after each sign-in and password change.
 */
export async function keepSession(token: string): Promise<void> {
  setToken(token);
  await plain.startSession();
  setToken(undefined);
  try {
    await plain.me();
  } catch (error) {
    setToken(token);
    if (!(error instanceof WaygateError) || error.status !== 401) throw error;
  }
}

/** Undefined signs out. */
export function setToken(token: string | undefined): void {
  options.token = token;
}

type Data<Name extends keyof Client> =
  Awaited<ReturnType<Client[Name]>> extends { data: infer Value } ? Value : never;

export type Instance = Data<"getInstance">;
export type InstanceStatus = Instance["status"];
export type InstanceState = Data<"getInstanceStatus">;
export type Pairing = NonNullable<Awaited<ReturnType<Client["getInstanceQr"]>>["data"]>;
export type CreatedInstance = Data<"createInstance">;
export type Signed = Data<"me">;

/** A random key. `crypto.randomUUID` is missing without HTTPS. */
export function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Waits, and ends early when the browser comes online or the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
    addEventListener("online", end, { once: true });
    addEventListener(RETRY, end, { once: true });
  });
}

const RETRY = "waygate-retry";

/** Ends every pause before a retry. */
export function retryNow(): void {
  dispatchEvent(new Event(RETRY));
}
