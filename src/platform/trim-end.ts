/** The text without these characters at its end. A pattern such as `/x+$/` starts anew at every run of them, which costs the square of the text. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
