import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { getMediaKeys, type MediaType, type proto } from "baileys";

/** Fields of a message that refer to a file. */
export interface StoredFile {
  url: string;
  directPath: string;
  mediaKey: Uint8Array;
  mediaKeyTimestamp: number;
  fileSha256: Uint8Array;
  fileEncSha256: Uint8Array;
  fileLength: number;
}

export interface FilePart extends proto.Message.IImageMessage {
  fileName?: string | null;
  seconds?: number | null;
  ptt?: boolean | null;
  title?: string | null;
  waveform?: Uint8Array | null;
  gifPlayback?: boolean | null;
  isAnimated?: boolean | null;
  viewOnce?: boolean | null;
}

const MAC = 10;
const sha256 = (data: Uint8Array): Buffer => createHash("sha256").update(data).digest();

const mac = (key: Uint8Array, ...parts: Uint8Array[]): Buffer =>
  createHmac("sha256", key).update(Buffer.concat(parts)).digest().subarray(0, MAC);

/** Stores files encrypted, as they arrive. */
export class ServerMediaStore {
  readonly #blobs = new Map<string, Buffer>();
  host = "127.0.0.1";

  /** Stores a blob by its hash. Returns its path. */
  put(type: string, blob: Buffer): { url: string; direct_path: string } {
    const path = `/v/${type}/${sha256(blob).toString("base64url")}-${randomBytes(3).toString("hex")}`;
    this.#blobs.set(path, blob);
    return { url: `https://${this.host}${path}`, direct_path: path };
  }

  /** Stores a public picture of a person or a group. */
  picture(image: Uint8Array): { id: string; path: string } {
    return { id: String(Date.now()), path: this.put("picture", Buffer.from(image)).direct_path };
  }

  get(path: string): Buffer | undefined {
    return this.#blobs.get(path.split("?")[0] ?? "");
  }

  clear(): void {
    this.#blobs.clear();
  }

  /** Encrypts a file as a phone does. */
  async store(file: Uint8Array, type: MediaType): Promise<StoredFile> {
    const mediaKey = randomBytes(32);
    return {
      ...(await this.#seal(file, type, mediaKey)),
      mediaKey,
      mediaKeyTimestamp: Math.floor(Date.now() / 1000),
    };
  }

  /** Stores the same file under another path with the same key. */
  async storeAgain(file: Uint8Array, type: MediaType, mediaKey: Uint8Array): Promise<string> {
    return (await this.#seal(file, type, mediaKey)).directPath;
  }

  async #seal(file: Uint8Array, type: MediaType, mediaKey: Uint8Array) {
    const { iv, cipherKey, macKey } = await getMediaKeys(mediaKey, type);
    if (!macKey) throw new Error("no MAC key");
    const cipher = createCipheriv("aes-256-cbc", cipherKey, iv);
    const sealed = Buffer.concat([cipher.update(file), cipher.final()]);
    const blob = Buffer.concat([sealed, mac(macKey, iv, sealed)]);
    const { url, direct_path } = this.put(type, blob);
    return {
      url,
      directPath: direct_path,
      fileSha256: sha256(file),
      fileEncSha256: sha256(blob),
      fileLength: file.byteLength,
    };
  }

  /** Decrypts a message's file. Throws on a wrong hash or MAC. */
  async open(part: FilePart, type: MediaType): Promise<Buffer | undefined> {
    const blob = this.get(part.directPath ?? "");
    if (!blob || !part.mediaKey) return undefined;
    const { iv, cipherKey, macKey } = await getMediaKeys(part.mediaKey, type);
    const sealed = blob.subarray(0, -MAC);
    if (!macKey || !mac(macKey, iv, sealed).equals(blob.subarray(-MAC))) throw new Error("wrong MAC");
    const decipher = createDecipheriv("aes-256-cbc", cipherKey, iv);
    const file = Buffer.concat([decipher.update(sealed), decipher.final()]);
    if (!sha256(file).equals(Buffer.from(part.fileSha256 ?? []))) throw new Error("wrong hash");
    return file;
  }
}
