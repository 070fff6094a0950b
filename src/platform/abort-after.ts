/**
 * A signal that aborts with another one, or with a TimeoutError after this many milliseconds. Unlike `AbortSignal.any` with
 * `AbortSignal.timeout`, it cannot be lost: Node 20 collects that pair as garbage while a listener waits for it.
 */
export function abortAfter(ms: number, ...signals: AbortSignal[]): AbortSignal {
  const deadline = new AbortController();
  const end = () => deadline.abort(new DOMException(`Nothing came within ${ms} ms.`, "TimeoutError"));
  const timer = setTimeout(end, ms).unref();
  const signal = AbortSignal.any([...signals, deadline.signal]);
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  return signal;
}
