import { Fragment } from "react";

const LINK = /(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)\]}'])/;

/** The text of a message, whose addresses can be followed. */
export function MessageText({ text }: { text: string }) {
  return (
    <p className="message-text" dir="auto">
      {text.split(LINK).map((part, at) =>
        at % 2 === 1 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
          <a key={at} href={part} target="_blank" rel="noreferrer noopener">
            {part}
          </a>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <Fragment key={at}>{part}</Fragment>
        ),
      )}
    </p>
  );
}
