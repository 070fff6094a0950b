import { useState } from "react";

/** For a form whose fields keep their own values: whether something was entered since it was shown or saved. */
export function useEntered() {
  const [isEntered, setEntered] = useState(false);
  const enter = () => setEntered(true);
  return {
    isEntered,
    /** For a checkbox, which reports nothing to its form. */
    enter,
    clear: () => setEntered(false),
    /** Of the form. */
    listener: { onInput: enter },
  };
}
