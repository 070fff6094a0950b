/** Version of WhatsApp's web client, such as [2, 3000, 1043857760]. */
export type ClientVersion = readonly [number, number, number];

/** The web client version with which the sessions of this process log in. */
export interface ClientVersions {
  current(): ClientVersion;
  /** The network intends to refuse this version from then on; null: it has withdrawn that. */
  reportExpiration(version: ClientVersion, at: Date | null): void;
  /** The network has rejected this version: searches for a newer one, and resolves with the next step. */
  reportRejected(version: ClientVersion): Promise<ClientVersionRejection>;
}

export interface ClientVersionRejection {
  /** Whether `current()` is a newer version than the refused one. */
  canRetry: boolean;
  /** For users: what happened. */
  message: string;
  /** For users: what the gateway does now or, without a retry, what to do. */
  action: string;
}
