import type { Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import type { ByteRange, MediaStore, StoredFileWriter } from "./media-store.ts";
import { emptyDirectory, TemporaryFile } from "./temporary-file.ts";

type AwsSdk = typeof import("@aws-sdk/client-s3");

/**
 * Stores files as objects of a bucket; each file is complete and hashed on the local disk before the upload.
 */
export class S3MediaStore implements MediaStore {
  readonly description: string;
  readonly isShared = true;
  /** A bucket has no limit; writes to the local disk report a full disk themselves. */
  readonly isFull = false;
  readonly #s3: AwsSdk;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #scratch: string;

  private constructor(s3: AwsSdk, url: URL, scratch: string) {
    this.#s3 = s3;
    this.#client = new s3.S3Client(clientOptions(url));
    this.#bucket = url.hostname;
    this.#prefix = decodeURIComponent(url.pathname).replace(/^\/+|(?<!\/)\/+$/g, "");
    this.#scratch = scratch;
    this.description = `the bucket ${this.#bucket}${this.#prefix && `, below ${this.#prefix}`}`;
  }

  /** Throws an Error that says why the bucket is unusable. */
  static async open(url: URL, { scratch }: { scratch: string }): Promise<S3MediaStore> {
    // Loaded on demand, because the library is large.
    const store = new S3MediaStore(await import("@aws-sdk/client-s3"), url, scratch);
    await emptyDirectory(scratch);
    const { HeadBucketCommand } = store.#s3;
    await store.#client.send(new HeadBucketCommand({ Bucket: store.#bucket })).catch((cause: Error) => {
      throw new Error(`The bucket ${store.#bucket} of WAYGATE_MEDIA cannot be used (${cause.name}).`, {
        cause,
      });
    });
    return store;
  }

  async begin(): Promise<StoredFileWriter> {
    const file = await TemporaryFile.begin(this.#scratch);
    return {
      get size() {
        return file.size;
      },
      write: (piece) => file.write(piece),
      end: () => file.end({ isDurable: false }),
      commit: (name) => this.#upload(file, name),
      discard: () => file.discard(),
    };
  }

  async open(name: string, range?: ByteRange): Promise<Readable | undefined> {
    const command = new this.#s3.GetObjectCommand({
      ...this.#at(name),
      ...(range && { Range: `bytes=${range.start}-${range.end}` }),
    });
    try {
      const { Body } = await this.#client.send(command);
      return Body as Readable;
    } catch (error) {
      if (error instanceof this.#s3.NoSuchKey) return undefined;
      throw foreign("read", error);
    }
  }

  async remove(name: string): Promise<void> {
    const command = new this.#s3.DeleteObjectCommand(this.#at(name));
    await this.#client.send(command).catch((error: unknown) => {
      throw foreign("remove", error);
    });
  }

  async #upload(file: TemporaryFile, name: string): Promise<void> {
    const command = new this.#s3.PutObjectCommand({
      ...this.#at(name),
      Body: file.read(),
      ContentLength: file.size,
      ContentType: "application/octet-stream",
    });
    await this.#client.send(command).catch((error: unknown) => {
      throw foreign("store", error);
    });
  }

  #at(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix ? `${this.#prefix}/${name}` : name };
  }
}

/**
 * Without credentials in the address, the AWS library searches AWS_* variables, the profile and the machine.
 */
function clientOptions({ username, password, searchParams }: URL) {
  const endpoint = searchParams.get("endpoint");
  return {
    region: searchParams.get("region") ?? "us-east-1",
    // Not every S3-compatible server supports the checksums that newer clients add.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    ...(endpoint && { endpoint, forcePathStyle: true }),
    ...(username && {
      credentials: {
        accessKeyId: decodeURIComponent(username),
        secretAccessKey: decodeURIComponent(password),
      },
    }),
  } as const;
}

/** Hides the library's error codes, which look like those of an unavailable database. */
function foreign(act: string, cause: unknown): Error {
  const { name, message } = cause as Error;
  return new Error(`The bucket did not ${act} a file: ${name} ${message}`, { cause });
}
