/** The box of a checkbox; CSS shows its tick while the checkbox is selected. */
export function CheckMark() {
  return (
    <svg className="check-mark" width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
      <rect x="1" y="1" width="20" height="20" rx="4" />
      <path d="M6 11.5l3.5 3.5L16.5 7.5" />
    </svg>
  );
}
