/** A file to send. */
export interface FileUpload {
  readonly bytes: Uint8Array;
  readonly file_name?: string;
  readonly mime_type?: string;
}

/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [field: string]: JsonValue };
