/** One word alone: a sentence that contains it is no opt-out. */
const OPT_OUT = /^["'\s]*(stop|sair|parar|cancelar)[."'!\s]*$/i;

/** Whether a contact who writes this text opts out of campaigns. */
export function isOptOut(text: string): boolean {
  return OPT_OUT.test(text);
}
