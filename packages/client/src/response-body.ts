/** A response without the envelope. */
export interface RawBody {
  type: string;
  bytes: Uint8Array;
}

/** A response of any length, read as it arrives. */
export interface StreamBody {
  type: string;
  stream: ReadableStream<Uint8Array>;
}

/** A JSON document of any length: read `stream`, or all of it into memory with `json()`. */
export interface JsonStream<Document> extends StreamBody {
  json(): Promise<Document>;
}

/** A successful response: `data`, and the fields beside it. */
export type Envelope<Data, Beside = unknown> = { success: true; message: string; data: Data } & Beside;

type Absent<Names extends PropertyKey> = { [Name in Names]?: undefined };

/**
 * The fields that only the other response has, so that code can read both before it knows which one arrived.
 */
type Without<Other, Own> = Absent<Exclude<keyof Other, keyof Own>>;
type EnvelopeBut<Data, Beside, OtherData, OtherBeside> = Envelope<Data, Beside> & {
  data: Without<OtherData, Data>;
} & Without<OtherBeside, Beside>;

/** One of two successful responses. Of the other, the fields are undefined. */
export type EitherEnvelope<Data, Beside, OtherData, OtherBeside> =
  | EnvelopeBut<Data, Beside, OtherData, OtherBeside>
  | EnvelopeBut<OtherData, OtherBeside, Data, Beside>;

/** A JSON body or a file. Of the other, the fields are undefined. */
export type JsonOrRaw<Json> =
  | (Json & Absent<"type" | "bytes">)
  | (RawBody & Absent<"success" | "message" | "data">);
