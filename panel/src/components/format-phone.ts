/** Digits as people write a number: with a plus, and a gap before the last four digits and the four before. */
export function formatPhone(digits: string): string {
  if (!/^\d{8,15}$/.test(digits)) return digits;
  return `+${digits.slice(0, -8)} ${digits.slice(-8, -4)}-${digits.slice(-4)}`.replace("+ ", "+");
}
