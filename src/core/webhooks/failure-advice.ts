/** The result of a failed attempt. */
export interface FailedWebhookAttempt {
  /** The receiver's status code; null without a response. */
  status_code: number | null;
  /** Why the receiver sent no response, if known. */
  error_class?: string | null;
}

const CHECK_ADDRESS = "Start the receiver, and check the host and port of the webhook's url.";

const BY_CLASS: Readonly<Record<string, string>> = {
  blocked: "Give the webhook a url that the gateway may call.",
  dns: "Check the host name of the webhook's url.",
  invalid_url: "Correct the webhook's url.",
  protocol: "Check that the webhook's url leads to an HTTP server.",
  rejected:
    "Read what the broker said in the error of the attempt, and correct it there or in the webhook's url.",
  reset: "Read the log of the receiver: it closed the connection without a response.",
  timeout_total: "Let the receiver respond with 2xx first and do its work afterwards.",
  tls: "Check the certificate of the receiver.",
};

const BY_STATUS: Readonly<Record<number, string>> = {
  401: "Give the receiver the secret of this webhook, or give the webhook the headers that the receiver requires.",
  403: "Give the receiver the secret of this webhook, or give the webhook the headers that the receiver requires.",
  404: "Check the path of the webhook's url.",
  405: "Let the receiver accept POST at the webhook's url.",
};

/** Advice about a failing receiver. */
export function failureAdvice({ status_code, error_class }: FailedWebhookAttempt): string {
  if (status_code === null) return BY_CLASS[error_class ?? ""] ?? CHECK_ADDRESS;
  const known = BY_STATUS[status_code];
  if (known !== undefined) return known;
  if (status_code >= 300 && status_code < 400) return "Set the webhook's url to the address of the redirect.";
  return "Read the log of the receiver, and let it respond with 2xx.";
}
