import { useEffect, useRef } from "react";

/** For a form: moves to its first field with a fault after the gateway has refused it. */
export function useFocusFault(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return form;
}
