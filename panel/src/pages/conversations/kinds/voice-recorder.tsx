import { useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";

interface Recording {
  recorder: MediaRecorder;
  /** Resolves when the recorder stops. */
  sound: Promise<Blob>;
}

/** Records the microphone. Shows nothing without HTTPS or localhost. */
export function VoiceRecorder({ onRecord }: { onRecord(sound: File): void }) {
  const t = useTranslations("conversations");
  const { recording, state, start, end } = useRecording();
  const seconds = useSeconds(recording);
  if (!("mediaDevices" in navigator)) return null;
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const send = async () => {
    const sound = await end();
    if (sound) onRecord(new File([sound], t("kinds.voice"), { type: sound.type }));
  };
  return (
    <>
      <ActionButton isPending={state === "asking" || recording !== undefined} onPress={start}>
        {recording ? t("compose.recording", { time }) : t("compose.record")}
      </ActionButton>
      {recording && (
        <>
          <ActionButton kind="primary" onPress={send}>
            {t("compose.sendRecording")}
          </ActionButton>
          <ActionButton kind="link" onPress={end}>
            {t("compose.discardRecording")}
          </ActionButton>
        </>
      )}
      {state === "refused" && (
        <p className="field-error" role="alert">
          {t("compose.noMicrophone")}
        </p>
      )}
    </>
  );
}

/** At most one recording, which stops with the page. */
function useRecording() {
  const [recording, setRecording] = useState<Recording>();
  const [state, setState] = useState<"ready" | "asking" | "refused">("ready");
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  useEffect(() => recording && (() => release(recording.recorder.stream)), [recording]);
  const start = async () => {
    setState("asking");
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      if (!isShown.current) return release(stream);
      setRecording(record(stream));
      setState("ready");
    } catch {
      setState("refused");
    }
  };
  const end = () => {
    recording?.recorder.stop();
    setRecording(undefined);
    return recording?.sound;
  };
  return { recording, state, start, end };
}

function record(stream: MediaStream): Recording {
  const recorder = new MediaRecorder(stream);
  const sound = new Promise<Blob>((resolve) => {
    recorder.addEventListener("dataavailable", ({ data }) => resolve(data), { once: true });
  });
  recorder.start();
  return { recorder, sound };
}

function release(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

function useSeconds(recording: Recording | undefined): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    setSeconds(0);
    if (!recording) return;
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000);
    return () => clearInterval(timer);
  }, [recording]);
  return seconds;
}
