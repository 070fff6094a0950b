/** A field of a request, and the parameter of the node that it comes from. */
export interface OperationField {
  /** Of the parameter. */
  readonly name: string;
  /** Of the request, if it differs: `contact.name`. */
  readonly path?: string;
  readonly kind: "text" | "number" | "boolean" | "list" | "json";
  /** The parameter is in "Additional Fields". */
  readonly isAdditional?: boolean;
  /** One of several ways to give a file; it counts only if it is chosen. */
  readonly isFileSource?: boolean;
  /** An empty text is sent, because it has a meaning of its own. */
  readonly mayBeEmpty?: boolean;
}

/** How an operation of the node is requested. */
export interface Operation {
  /** Method and path: `POST /api/v1/instances/:id/send-text`. */
  readonly http: string;
  readonly fields: readonly OperationField[];
  /** The field of the request for a file. */
  readonly upload?: string;
  /** Returns pages. */
  readonly isPaginated?: boolean;
  /** Can return a file. */
  readonly isFile?: boolean;
  /** A request with the same `Idempotency-Key` acts once. */
  readonly isIdempotent?: boolean;
}
