import { createLink } from "@tanstack/react-router";
import type { ComponentProps } from "react";
import { Button, type ButtonProps } from "react-aria-components";

type Kind = "primary" | "secondary" | "danger" | "link";

/** A button. While `isPending` it keeps the focus and ignores presses. */
export function ActionButton({
  kind = "secondary",
  isPending = false,
  type = "button",
  onPress,
  ...props
}: ButtonProps & { kind?: Kind }) {
  return (
    <Button
      {...props}
      {...(!isPending && onPress && { onPress })}
      type={isPending ? "button" : type}
      data-kind={kind}
      data-working={isPending ? "" : undefined}
      className="button"
    />
  );
}

function Anchor({ kind = "secondary", ...props }: ComponentProps<"a"> & { kind?: Kind }) {
  return <a {...props} data-kind={kind} className="button" />;
}

/** A link inside the panel that looks like a button. */
export const LinkButton = createLink(Anchor);
