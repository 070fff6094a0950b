import type { ContactCard } from "../content.ts";

export interface VcardFields extends Pick<ContactCard, "name" | "phone"> {
  organization?: string;
  email?: string;
  url?: string;
}

/** A vCard 3.0. Clients offer a chat with the phone because of its `waid`. */
export function writeVcard({ name, phone, organization, email, url }: VcardFields): string {
  return [
    "BEGIN:VCARD",
    "VERSION:3.0",
    `N:;${escaped(name)};;;`,
    `FN:${escaped(name)}`,
    ...(organization ? [`ORG:${escaped(organization)}`] : []),
    ...(phone === "" ? [] : [`TEL;type=CELL;type=VOICE;waid=${phone}:+${phone}`]),
    ...(email ? [`EMAIL:${escaped(email)}`] : []),
    ...(url ? [`URL:${escaped(url)}`] : []),
    "END:VCARD",
  ].join("\n");
}

/** A line break would begin another property. */
function escaped(value: string): string {
  return value.replace(/[\r\n]+/g, " ").replace(/([\\;,])/g, "\\$1");
}
