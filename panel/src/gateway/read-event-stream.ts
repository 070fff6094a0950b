export interface StreamedEvent {
  id: string;
  name: string;
  data: string;
}

/** The gateway's frames have at most 256 KiB. */
const LONGEST_FRAME = 1_048_576;

/** Reads server-sent events until the stream ends. Throws if a frame is too long. */
export async function* readEventStream(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const reader = stream
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  let pending = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const frames = (pending + value).split("\n\n");
      pending = frames.pop() ?? "";
      if (pending.length > LONGEST_FRAME) throw new Error("A frame of the event stream is too long.");
      yield* frames.map(toEvent).filter((event) => event.data !== "");
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

function toEvent(frame: string): StreamedEvent {
  const event = { id: "", name: "message", data: "" };
  for (const line of frame.split("\n")) {
    if (line.startsWith("id: ")) event.id = line.slice(4);
    else if (line.startsWith("event: ")) event.name = line.slice(7);
    else if (line.startsWith("data: ")) event.data += line.slice(6);
  }
  return event;
}
