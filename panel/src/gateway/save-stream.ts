interface SaveStreamOptions {
  name: string;
  type: string;
  /** Receives the total number of bytes so far. */
  onProgress(bytes: number): void;
}

/** Saves a file of any size as it arrives. Returns its last bytes as text. */
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

/** Downloads a file in the browser. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the file after the click handler returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
