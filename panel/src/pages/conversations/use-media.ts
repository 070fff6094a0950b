import { useEffect, useRef, useState } from "react";
import type { Message } from "./conversation-queries.ts";
import { openFile, releaseFile } from "./media-files.ts";

/** Pictures up to this size load when they become visible. */
const LOADED_AT_ONCE = 4 * 1024 * 1024;

export interface ShownMedia {
  url: string | undefined;
  error: unknown;
  isLoading: boolean;
  load(): void;
}

/** The file of a visible message. Large files and videos load on request. */
export function useMedia(instanceId: number, message: Message, isEager: boolean): ShownMedia {
  const { media } = message;
  const isThere = media !== null && media.status !== "pending" && media.status !== "expired";
  const isSmall = media?.status === "ready" && media.size <= LOADED_AT_ONCE;
  const [isAsked, setAsked] = useState(false);
  const isWanted = isThere && (isAsked || (isEager && isSmall));
  const [url, setUrl] = useState<string>();
  const [error, setError] = useState<unknown>();
  const latest = useRef(message);
  latest.current = message;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a later state of the same message has the same file
  useEffect(() => {
    if (!isWanted || error !== undefined) return;
    let isOpen = true;
    const shown = latest.current;
    const opened = openFile(instanceId, shown);
    opened.then(
      (address) => isOpen && setUrl(address),
      (reason: unknown) => isOpen && setError(reason),
    );
    return () => {
      isOpen = false;
      setUrl(undefined);
      void opened.then(() => releaseFile(instanceId, shown)).catch(() => {});
    };
  }, [instanceId, message.id, isWanted, error]);
  const isLoading = isWanted && url === undefined && error === undefined;
  const load = () => {
    setError(undefined);
    setAsked(true);
  };
  return { url, error, isLoading, load };
}
