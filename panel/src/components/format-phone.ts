/** Country, area and subscriber of Brazil and North America. */
const KNOWN = [/^(55)(\d{2})(\d{4,5})(\d{4})$/, /^(1)(\d{3})(\d{3})(\d{4})$/];

/** Digits as people write a number: with a plus, and a gap before the last four digits and the four before. */
export function formatPhone(digits: string): string {
  for (const pattern of KNOWN) {
    const known = pattern.exec(digits);
    if (known) return `+${known[1]} ${known[2]} ${known[3]}-${known[4]}`;
  }
  if (!/^\d{8,15}$/.test(digits)) return digits;
  return `+${digits.slice(0, -8)} ${digits.slice(-8, -4)}-${digits.slice(-4)}`.replace("+ ", "+");
}
