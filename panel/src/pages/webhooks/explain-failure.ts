export interface AttemptResult {
  success: boolean;
  status_code: number | null;
  error_class: string | null;
}

const BY_CLASS = [
  "dns",
  "refused",
  "reset",
  "tls",
  "timeout_connect",
  "timeout_total",
  "blocked",
  "invalid_url",
  "protocol",
  "rejected",
] as const;

const BY_STATUS = {
  401: "unauthorised",
  403: "unauthorised",
  404: "notFound",
  405: "method",
  410: "gone",
} as const;

export type FailureKind =
  | (typeof BY_CLASS)[number]
  | (typeof BY_STATUS)[keyof typeof BY_STATUS]
  | "starting"
  | "redirect"
  | "large"
  | "busy"
  | "refusal"
  | "crash"
  | "unknown";

export function failureKindOf({ status_code, error_class }: AttemptResult): FailureKind {
  if (status_code === null) return BY_CLASS.find((kind) => kind === error_class) ?? "unknown";
  // A starting n8n returns 2xx and discards the event.
  if (status_code < 300) return "starting";
  if (status_code < 400) return "redirect";
  if (status_code in BY_STATUS) return BY_STATUS[status_code as keyof typeof BY_STATUS];
  if (status_code === 413) return "large";
  if (status_code === 429 || status_code === 503) return "busy";
  return status_code < 500 ? "refusal" : "crash";
}
