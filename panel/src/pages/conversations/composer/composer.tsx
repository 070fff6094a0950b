import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  type ClipboardEvent,
  type KeyboardEvent,
  lazy,
  type RefObject,
  Suspense,
  useEffect,
  useRef,
  useState,
} from "react";
import { useTranslations } from "use-intl";
import { variablesOf } from "../../../../../src/platform/text/render-template.ts";
import { ActionButton, LinkButton } from "../../../components/action-button.tsx";
import { ErrorNotice, Notice } from "../../../components/error-notice.tsx";
import { gateway, type InstanceState } from "../../../gateway/gateway.ts";
import { isLinked } from "../../../gateway/is-linked.ts";
import type { Chat, Message } from "../conversation-queries.ts";
import { summarise } from "../kinds/kinds.tsx";
import { postFile, useSize } from "../kinds/media-parts.tsx";
import type { Outgoing } from "../kinds/message-kind.ts";
import { postText } from "../kinds/text-kind.tsx";
import { reloadMessage } from "../use-live-conversations.ts";
import { QuickReplyList, useQuickReplies } from "./quick-reply-list.tsx";
import "./composer.css";

const Attachments = lazy(() => import("./attachments.tsx").then((part) => ({ default: part.Attachments })));

export interface Target {
  kind: "reply" | "edit";
  message: Message;
}

interface ComposerProps {
  chat: Chat;
  state: InstanceState;
  target: Target | undefined;
  onTarget(target: Target | undefined): void;
  /** Each file becomes one message. The first one has the text as its caption. */
  files: readonly File[];
  onFiles(files: readonly File[]): void;
  onSend(message: Outgoing): void;
}

/** Unsent texts by chat, until the window closes. */
const drafts = new Map<string, string>();

export function Composer(props: ComposerProps) {
  const t = useTranslations("conversations.compose");
  const { chat, state, target, files, onTarget, onFiles, onSend } = props;
  const [isOpen, setOpen] = useState(false);
  const { field, text, type, write, replies, edit, send, press, paste } = useComposer(props);
  const mayBeSent = isLinked(state);
  const label = files.length > 0 ? t("caption") : t("text");
  const leave = () => {
    onTarget(undefined);
    if (target?.kind === "edit") write("");
  };
  return (
    <section className="composer" aria-label={t("label")}>
      <ErrorNotice error={edit.error} />
      {target && <TargetBar target={target} onEnd={leave} />}
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name
        <DraftFile key={at} file={file} onRemove={() => onFiles(files.filter((one) => one !== file))} />
      ))}
      <ConnectionHint id={chat.instance_id} state={state} />
      <QuickReplyList replies={replies} />
      <Suspense>{isOpen && mayBeSent && <Attachments onFiles={onFiles} onSend={onSend} />}</Suspense>
      <div className="composer-row">
        <ActionButton
          aria-expanded={isOpen}
          aria-label={t("attach")}
          isDisabled={!mayBeSent}
          onPress={() => setOpen(!isOpen)}
        >
          +
        </ActionButton>
        <textarea
          ref={field}
          rows={1}
          value={text}
          maxLength={65_536}
          aria-label={label}
          placeholder={label}
          {...replies.fieldProps}
          onChange={(event) => type(event.target.value)}
          onKeyDown={press}
          onPaste={paste}
        />
        <ActionButton kind="primary" isDisabled={!mayBeSent} isPending={edit.isPending} onPress={send}>
          {target?.kind === "edit" ? t("saveEdit") : t("send")}
        </ActionButton>
      </div>
      <p className="hint composer-hint">{t("keys")}</p>
    </section>
  );
}

/** What happens to messages while the instance is disconnected. */
function ConnectionHint({ id, state }: { id: number; state: InstanceState }) {
  const t = useTranslations();
  if (state.connected) return null;
  if (isLinked(state)) return <p className="hint">{t("conversations.compose.notConnected")}</p>;
  return (
    <Notice tone="warning">
      <p>{t("conversations.compose.notLinked")}</p>
      <div className="buttons">
        <LinkButton to="/instances/$id/link" params={{ id }}>
          {t("connection.toLink")}
        </LinkButton>
      </div>
    </Notice>
  );
}

function useComposer({ chat, state, target, onTarget, files, onFiles, onSend }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const { text, setText, write } = useDraft(chat);
  const typing = useTyping(chat, state.connected);
  const edit = useEdit(chat, () => [onTarget(undefined), write("")]);
  const replies = useQuickReplies(chat, text, write);
  useFirstFocus(field);
  useTargetFocus(target, field, setText);
  const post = (filled: string) => {
    if (files.length === 0) onSend({ shown: filled, post: postText(filled) });
    for (const [at, file] of files.entries()) onSend(withFile(file, at === 0 ? filled : ""));
    typing.stop();
    onFiles([]);
    write("");
    field.current?.focus();
  };
  const send = () => {
    const typed = text.trim();
    if ((typed === "" && files.length === 0) || !isLinked(state)) return;
    if (target?.kind === "edit") return edit.mutate({ messageId: target.message.message_id, text: typed });
    const filled = files.length === 0 ? replies.read(typed) : typed;
    // Shows unresolved variables to the writer instead of sending them.
    if (filled !== typed && variablesOf(filled).length > 0) write(filled);
    else post(filled);
  };
  const press = (event: KeyboardEvent) => {
    if (replies.press(event)) return;
    if (event.key === "Escape" && target) {
      event.preventDefault();
      onTarget(undefined);
    }
    // Enter also confirms an input method's character in Japanese, Chinese and Korean.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const paste = (event: ClipboardEvent) => {
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    onFiles(pasted);
  };
  const type = (next: string) => {
    write(next);
    typing.note(next);
  };
  return { field, text, type, write, replies, edit, send, press, paste };
}

function withFile(file: File, caption: string): Outgoing {
  const shown = [file.name, caption].filter(Boolean).join("\n");
  return { shown, post: postFile(file, caption === "" ? {} : { caption }) };
}

/** Keeps an unsent text when another chat is opened. */
function useDraft({ instance_id, jid }: Chat) {
  const place = `${instance_id} ${jid}`;
  const [text, setText] = useState(drafts.get(place) ?? "");
  const write = (next: string) => {
    setText(next);
    if (next === "") drafts.delete(place);
    else drafts.set(place, next);
  };
  return { text, setText, write };
}

/** Focuses the field on devices with a keyboard. On a touch screen the keyboard would cover the chat. */
function useFirstFocus(field: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) field.current?.focus({ preventScroll: true });
  }, [field]);
}

/** Puts the edited message's text into the field. */
function useTargetFocus(
  target: Target | undefined,
  field: RefObject<HTMLTextAreaElement | null>,
  setText: (text: string) => void,
): void {
  useEffect(() => {
    if (target === undefined) return;
    if (target.kind === "edit") setText(target.message.text ?? target.message.caption ?? "");
    // The popover first returns the focus to its button.
    const timer = setTimeout(() => field.current?.focus(), 50);
    return () => clearTimeout(timer);
  }, [target, field, setText]);
}

function useEdit({ instance_id: id, jid }: Chat, onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ messageId: message_id, text }: { messageId: string; text: string }) => {
      await gateway.editMessage({ id, jid, message_id, text });
      await reloadMessage(client, id, message_id);
    },
    onSuccess: onDone,
  });
}

function TargetBar({ target, onEnd }: { target: Target; onEnd(): void }) {
  const t = useTranslations("conversations");
  return (
    <div className="target-bar">
      <p>
        <strong>{t(target.kind === "reply" ? "compose.replying" : "compose.editing")}</strong>{" "}
        {summarise(target.message, t).slice(0, 160)}
      </p>
      <ActionButton kind="link" onPress={onEnd}>
        {t("compose.endTarget")}
      </ActionButton>
    </div>
  );
}

/** WhatsApp shows "typing" for this long; it is sent at most this often. */
const SHOWN_MS = 8_000;
const REPEAT_MS = 6_000;

/** Sends "typing" to the contact and ignores failures. */
function useTyping({ instance_id: id, jid, id: known }: Chat, isConnected: boolean) {
  const told = useRef(0);
  const tell = (presence: "typing" | "paused", more: { duration_ms?: number } = {}) =>
    void gateway.setPresence({ id, jid, presence, ...more }).catch(() => {});
  const stop = () => {
    if (told.current === 0) return;
    told.current = 0;
    tell("paused");
  };
  const latest = useRef(stop);
  latest.current = stop;
  useEffect(() => () => latest.current(), []);
  const note = (text: string) => {
    if (!isConnected || known === 0) return;
    if (text === "") return stop();
    if (Date.now() - told.current < REPEAT_MS) return;
    told.current = Date.now();
    tell("typing", { duration_ms: SHOWN_MS });
  };
  return { note, stop };
}

function DraftFile({ file, onRemove }: { file: File; onRemove(): void }) {
  const t = useTranslations("conversations.compose");
  const size = useSize();
  const url = usePicture(file);
  return (
    <div className="draft-file">
      {url !== undefined && <img src={url} alt="" />}
      <p>
        {file.name} <span className="hint">{size(file.size)}</span>
      </p>
      <ActionButton kind="link" onPress={onRemove} aria-label={t("removeFile", { name: file.name })}>
        {t("remove")}
      </ActionButton>
    </div>
  );
}

function usePicture(file: File): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!/^image\/(png|jpeg|webp|gif)$/.test(file.type)) return setUrl(undefined);
    const address = URL.createObjectURL(file);
    setUrl(address);
    return () => URL.revokeObjectURL(address);
  }, [file]);
  return url;
}
