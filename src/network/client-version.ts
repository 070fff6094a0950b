/** Of WhatsApp's web client, such as [2, 3000, 1043857760]. */
export type ClientVersion = readonly [number, number, number];

/** Which version of the network's web client the sessions of this process log in as. */
export interface ClientVersions {
  current(): ClientVersion;
  /** The network has refused this version: looks for a newer one, and resolves with what follows. */
  refused(version: ClientVersion): Promise<ClientVersionRejection>;
}

export interface ClientVersionRejection {
  /** Whether `current()` is a newer version than the refused one. */
  canRetry: boolean;
  /** For people: what happened. */
  message: string;
  /** For people: what the gateway does now or, when there is no retry, what to do. */
  action: string;
}
