import { spawn } from "node:child_process";
import { once } from "node:events";

/** `missing`: ffmpeg is not installed. `failed`: it could not read the file, or exceeded a limit. */
export type FfmpegResult = "done" | "missing" | "failed";

export interface FfmpegRun {
  /** The program's name or path. */
  program: string;
  args: readonly string[];
  /** Receives the standard output. */
  onOutput?: (piece: Buffer) => void;
  /** Most output bytes; more ends the process. */
  maxBytes: number;
}

const LONGEST_MS = 60_000;
const CPU_SECONDS = 60;
const MEMORY_KIB = 2 * 1024 * 1024;
const [NOT_RUNNABLE, NOT_FOUND] = [126, 127];

/** Restricts ffmpeg to the given file, without network access or prompts. */
export const SAFE_ARGS: readonly string[] = [
  "-hide_banner",
  "-loglevel",
  "error",
  "-nostdin",
  "-protocol_whitelist",
  "file,pipe",
  "-threads",
  "1",
];

/** ffmpeg's demuxers by file type: none of them opens other files, as playlists would. */
const READERS: readonly [RegExp, string][] = [
  [/^audio\/(mpeg|mp3)/, "mp3"],
  [/ogg|opus/, "ogg"],
  [/mp4|m4a|m4v|quicktime|3gpp/, "mov"],
  [/wav|wave/, "wav"],
  [/webm|matroska/, "matroska"],
  [/flac/, "flac"],
  [/aac/, "aac"],
  [/amr/, "amr"],
  [/aiff/, "aiff"],
  [/ms-asf|ms-wm/, "asf"],
  [/wavpack/, "wv"],
  [/ac3|dolby/, "ac3"],
  [/^video\/(vnd\.avi|x-msvideo|avi)/, "avi"],
  [/^video\/x-flv/, "flv"],
  [/^video\/mp2t/, "mpegts"],
  [/^video\/(mpeg|mp1s|mp2p)/i, "mpeg"],
  [/^image\/gif/, "gif"],
  [/^image\/bmp/, "bmp_pipe"],
];

/** Undefined if no demuxer reads the type. Its parameters may name a codec, which says nothing of the container. */
export function findDemuxer(mimeType: string): string | undefined {
  const [container = ""] = mimeType.split(";");
  return READERS.find(([type]) => type.test(container))?.[1];
}

/** Runs ffmpeg as a limited child process without the gateway's environment, which holds secrets. */
export async function runFfmpeg({ program, args, onOutput, maxBytes }: FfmpegRun): Promise<FfmpegResult> {
  const bounded = `ulimit -t ${CPU_SECONDS}; ulimit -v ${MEMORY_KIB} 2>/dev/null; exec "$0" "$@"`;
  const child = spawn("/bin/sh", ["-c", bounded, program, ...SAFE_ARGS, ...args], {
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
  });
  // Without a shell, ffmpeg cannot run either: the process ends without output.
  child.on("error", () => {});
  // A child process of ffmpeg may keep the output open.
  const stop = () => {
    child.kill("SIGKILL");
    child.stdout?.destroy();
  };
  const tooLong = setTimeout(stop, LONGEST_MS);
  try {
    let bytes = 0;
    child.stdout.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > maxBytes) stop();
      else onOutput?.(piece);
    });
    const [code] = await once(child, "close");
    if (code === NOT_FOUND || code === NOT_RUNNABLE) return "missing";
    return code === 0 ? "done" : "failed";
  } finally {
    clearTimeout(tooLong);
  }
}
