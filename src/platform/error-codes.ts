/** What a code tells a caller; `docs/reference/errors.md` is generated from this. */
interface ErrorCodeEntry {
  /** HTTP status of the response. */
  status: number;
  meaning: string;
  /** What the caller can do. */
  advice: string;
}

const WAIT = "Wait for the seconds of `Retry-After`, then repeat the request";

/** Every code that a response can carry. */
export const ERROR_CODES = {
  VALIDATION_ERROR: {
    status: 400,
    meaning: "A field, a header or the body is missing, malformed or too long.",
    advice: "Correct what `message` and `details.fields` name. The same request fails again.",
  },
  AUTH_REQUIRED: {
    status: 401,
    meaning: "The request has no credential, or none that this route accepts.",
    advice: "Send the credential that the message names.",
  },
  INVALID_CREDENTIALS: {
    status: 401,
    meaning:
      "The e-mail or password, the administrative token, or the signature of an inbound webhook is wrong.",
    advice: "Correct the credential. Repeated wrong sign-ins lead to `RATE_LIMITED`.",
  },
  INVALID_TOKEN: {
    status: 401,
    meaning: "The token of a sign-in or of the operator is not valid or has expired.",
    advice: "Sign in again with `POST /api/auth/login`.",
  },
  INVALID_API_KEY: {
    status: 401,
    meaning: "No instance has this API key; it may have been rotated.",
    advice: "Use the instance's current key.",
  },
  INSTANCE_FORBIDDEN: {
    status: 403,
    meaning: "The API key belongs to another instance.",
    advice: "Use the key of the instance in the path.",
  },
  FORBIDDEN: {
    status: 403,
    meaning: "The caller's role, the caller's address or a setting of the operator does not allow this.",
    advice: "Use an account or role that may do it; the message names it.",
  },
  PASSWORD_REQUIRED: {
    status: 403,
    meaning: "The route needs a password given within the last ten minutes.",
    advice: "Send the password to `POST /api/auth/confirm`, then repeat the request.",
  },
  ACCOUNT_RESTRICTED: {
    status: 403,
    meaning: "The account is paused, blocked, expired or cancelled.",
    advice: "Ask the operator or the reseller of the account.",
  },
  PLAN_FEATURE_DISABLED: {
    status: 403,
    meaning: "The plan of the account does not include this feature.",
    advice: "Ask the operator or the reseller for another plan.",
  },
  QUOTA_EXCEEDED: {
    status: 403,
    meaning: "The plan, or a fixed limit, allows no more things of this kind.",
    advice: "Remove some, or ask for a larger plan. `details` has the limit.",
  },
  STORAGE_QUOTA_EXCEEDED: {
    status: 403,
    meaning: "The files of the account use all the space of its plan.",
    advice: "Delete files, wait until files expire, or ask for a larger plan.",
  },
  NOT_FOUND: {
    status: 404,
    meaning: "The thing does not exist, or belongs to another account.",
    advice: "Check the id in the path and the account of the credential.",
  },
  MESSAGE_NOT_FOUND: {
    status: 404,
    meaning: "The message is not in the log of this instance.",
    advice: "Check `message_id` and the instance.",
  },
  RECIPIENT_NOT_FOUND: {
    status: 404,
    meaning: "The number is not registered on the network, or the instance is not in the group.",
    advice: "Check the number or the group.",
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    meaning: "No route has this path.",
    advice: "Look the path up at `/docs`.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: "The path exists, but not with this method.",
    advice: "Use a method of the `Allow` header.",
  },
  REQUEST_TIMEOUT: {
    status: 408,
    meaning: "The request did not arrive whole in time.",
    advice: "Repeat it over a faster connection, or with a smaller body.",
  },
  INSTANCE_NOT_CONNECTED: {
    status: 409,
    meaning: "The instance has no open session with the network.",
    advice:
      "Read `GET /api/v1/instances/:id/status`, then pair or connect the instance. A send with `async: true` waits for a paired instance.",
  },
  CONFLICT: {
    status: 409,
    meaning: "The state of the thing does not allow this now, or the name is taken.",
    advice: "Change the state that the message names first, or choose another name.",
  },
  CAMPAIGN_STATE: {
    status: 409,
    meaning: "A campaign in its present state does not allow this command.",
    advice: "Read the campaign. *Campaign states* lists the commands of each state.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    meaning: "The first request with this `Idempotency-Key` has no outcome yet.",
    advice: `${WAIT} with the same key.`,
  },
  MEDIA_EXPIRED: {
    status: 410,
    meaning: "The file has expired or was erased, and the network no longer has it.",
    advice: "Ask the sender for the file.",
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning: "The body or the file exceeds the limit.",
    advice: "Send less, or split the request.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: "The route does not accept a body of this `Content-Type`.",
    advice: "Send the type that the message names, mostly `application/json`.",
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    meaning: "The `Idempotency-Key` was used with another body within 24 hours.",
    advice: "Use a new key for a new request.",
  },
  RATE_LIMITED: {
    status: 429,
    meaning: "A limit of the plan, of sign-ins, of streams or of the network is reached for now.",
    advice: `${WAIT}.`,
  },
  MESSAGE_QUOTA_EXCEEDED: {
    status: 429,
    meaning: "The month's messages of the plan are used up.",
    advice: "Wait for the next month (`Retry-After`), or ask for a larger plan.",
  },
  REACHOUT_TIMELOCK: {
    status: 429,
    meaning: "The network lets this number begin no new chats for a while. Known chats still work.",
    advice: "Wait until `details.until`. Write only to people who expect a message.",
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    meaning: "The headers of the request are too large.",
    advice: "Send fewer or shorter headers.",
  },
  INTERNAL: {
    status: 500,
    meaning: "A defect of the gateway. The cause is in its log.",
    advice:
      "Report it with `request_id`. A send may have been accepted: repeat it with the same `Idempotency-Key`.",
  },
  NOT_SUPPORTED: {
    status: 501,
    meaning: "The network of this instance cannot do this.",
    advice: "Do without it, or use an instance of another network.",
  },
  NOT_AVAILABLE: {
    status: 501,
    meaning: "This gateway does not have the extension that the request needs, or it is switched off.",
    advice: "Ask the operator, who lists the extensions in `WAYGATE_EXTENSIONS`.",
  },
  SEND_FAILED: {
    status: 502,
    meaning: "The network or a receiver refused the request, or could not be reached.",
    advice: "Read the message. Repeat the send only if `details.retryable` is true.",
  },
  CONNECT_FAILED: {
    status: 502,
    meaning: "The network, or the program of an integration, could not be reached.",
    advice: "Check the instance, its proxy or the address of the program, then try again.",
  },
  MEDIA_DOWNLOAD_FAILED: {
    status: 502,
    meaning: "A file could not be fetched from its address or from the network.",
    advice: "Check that the gateway may and can reach the address. `Retry-After`: try again later.",
  },
  QUEUE_UNAVAILABLE: {
    status: 503,
    meaning:
      "The gateway cannot queue work now: the queue is off, its database is unavailable, or no worker runs.",
    advice: `${WAIT}. Operators check \`WAYGATE_QUEUE\`, \`WAYGATE_ROLES\` and \`/health\`.`,
  },
  UNAVAILABLE: {
    status: 503,
    meaning:
      "The gateway is starting, stopping or overloaded, or its database or the session cannot be reached.",
    advice: `${WAIT}; repeat a send with the same \`Idempotency-Key\`.`,
  },
  SEND_TIMEOUT: {
    status: 504,
    meaning: "No outcome was known within the time that the request may wait.",
    advice:
      "Do not send again at once: repeat with the same `Idempotency-Key`, or wait for the event of the message.",
  },
  STORAGE_FULL: {
    status: 507,
    meaning: "The disk or the bucket of the gateway is full.",
    advice: "Tell the operator, who makes space. Then repeat the request.",
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;

export type ErrorCode = keyof typeof ERROR_CODES;

type CodeText = Omit<ErrorCodeEntry, "status">;

/** Codes that only the row and the event of a message carry: no request waits for them. */
export const MESSAGE_ERROR_CODES = {
  CANCELLED: {
    meaning: "The message waited to be sent while the data of its recipient were anonymised.",
    advice: "Nothing left the gateway. Do not send it again without the recipient's consent.",
  },
  UNKNOWN_OUTCOME: {
    meaning:
      "The message was submitted, and neither an acknowledgement nor a receipt arrived. It may have been delivered.",
    advice:
      "Look at the phone or ask the recipient before you send again. A later receipt changes the status.",
  },
} as const satisfies Readonly<Record<string, CodeText>>;

/** Codes of the assistant tools: no response of the gateway carries them. */
export const TOOL_ERROR_CODES = {
  GATEWAY_UNREACHABLE: {
    meaning: "The tools could not connect to the gateway.",
    advice: "Check `WAYGATE_BASE_URL` and that the gateway runs.",
  },
  GATEWAY_TIMEOUT: {
    meaning: "The gateway did not respond to the tools in time.",
    advice: "A send may have been accepted: look into the chat before you repeat it.",
  },
} as const satisfies Readonly<Record<string, CodeText>>;
