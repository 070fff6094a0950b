/** An option that a recipient can choose, with its number in the text. */
export interface NumberedOption {
  number: number;
  id: string;
  text: string;
}

export interface NumberedText {
  text: string;
  options: NumberedOption[];
}

interface Buttons {
  text: string;
  title?: string | undefined;
  footer?: string | undefined;
  buttons: readonly { id: string; text: string }[];
}

interface List {
  text: string;
  title?: string | undefined;
  buttonText?: string | undefined;
  sections: readonly {
    title?: string | undefined;
    rows: readonly { id: string; title: string; description?: string | undefined }[];
  }[];
}

/** Buttons as text, since the network shows real buttons only from official accounts. */
export function buttonsToText({ title, text, buttons, footer }: Buttons): NumberedText {
  const options = buttons.map((button, index) => ({
    number: index + 1,
    id: button.id,
    text: oneLine(button.text),
  }));
  const lines = options.map((option) => `${option.number}. ${option.text}`);
  return { text: paragraphs(title, text, lines.join("\n"), footer), options };
}

/** A list as text; the numbers continue across sections. */
export function listToText({ title, text, buttonText, sections }: List): NumberedText {
  const options: NumberedOption[] = [];
  const blocks = sections.map((section) => {
    const rows = section.rows.map((row) => {
      const option = { number: options.length + 1, id: row.id, text: oneLine(row.title) };
      options.push(option);
      return `${option.number}. ${option.text}${row.description ? ` - ${oneLine(row.description)}` : ""}`;
    });
    return [...(section.title ? [oneLine(section.title)] : []), ...rows].join("\n");
  });
  const lead = buttonText ? `${oneLine(buttonText)}:` : undefined;
  return { text: paragraphs(title, text, lead, ...blocks), options };
}

/** A line break inside an option would look like another option. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function paragraphs(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part.trim() !== "").join("\n\n");
}
