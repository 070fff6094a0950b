import { TemporaryFile } from "../../media/temporary-file.ts";
import type { SpooledUpload, UploadedFile } from "../route.ts";

/** What a form declares about its file. */
export interface DeclaredFile {
  file_name?: string | undefined;
  mime_type?: string | undefined;
}

/** Receives the file of a form. */
export interface UploadSink {
  write(piece: Buffer): Promise<void>;
  end(declared: DeclaredFile): Promise<UploadedFile | SpooledUpload>;
}

/** The files of one request, on disk until the request ends. */
export interface UploadSpool {
  open(): Promise<UploadSink>;
  /** Deletes the files. */
  discard(): Promise<void>;
}

export function createUploadSpool(directory: string): UploadSpool {
  const files: TemporaryFile[] = [];
  return {
    async open() {
      const file = await TemporaryFile.begin(directory);
      files.push(file);
      return {
        write: (piece) => file.write(piece),
        async end(declared) {
          const sha256 = await file.end({ isDurable: false });
          return new SpooledFile(file, sha256, declared);
        },
      };
    },
    async discard() {
      for (const file of files.splice(0)) await file.discard();
    },
  };
}

/** Shows its metadata as plain fields and hides its path. */
class SpooledFile implements SpooledUpload {
  readonly size: number;
  readonly sha256: string;
  readonly file_name?: string;
  readonly mime_type?: string;
  readonly #file: TemporaryFile;

  constructor(file: TemporaryFile, sha256: string, { file_name, mime_type }: DeclaredFile) {
    this.size = file.size;
    this.sha256 = sha256;
    if (file_name !== undefined) this.file_name = file_name;
    if (mime_type !== undefined) this.mime_type = mime_type;
    this.#file = file;
  }

  read(): AsyncIterable<Buffer> {
    return this.#file.read();
  }
}
