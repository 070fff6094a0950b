interface SaveStreamOptions {
  name: string;
  type: string;
  /** Gets the number of bytes that have arrived. */
  onProgress(bytes: number): void;
}

/** Saves a file of any length as it arrives; returns its last bytes as text. */
export async function saveStream(
  stream: ReadableStream<Uint8Array>,
  { name, type, onProgress }: SaveStreamOptions,
): Promise<string> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value as Uint8Array<ArrayBuffer>);
    bytes += value.length;
    onProgress(bytes);
  }
  const file = new Blob(parts, { type });
  saveFile(name, file);
  return file.slice(-16).text();
}

/** Saves a file in the reader's downloads. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the file after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
