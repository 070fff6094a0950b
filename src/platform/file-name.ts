const MAX_LENGTH = 200;

/** A name only, without path or characters that are not seen; cut between characters, not within one. */
export function cleanFileName(name: string): string {
  const last = (name.split(/[\\/]/).at(-1) ?? "").replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
  const cut = [...last].slice(0, MAX_LENGTH).join("");
  return /^\.*$/.test(cut) ? "file" : cut;
}
