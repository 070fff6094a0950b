/** A gate on a road, as on the tab of the browser. */
export function BrandMark({ size = 30 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="var(--brand)" />
      <g fill="none" stroke="var(--on-brand)" strokeWidth="3.4" strokeLinecap="round">
        <path d="M8 25V14a8 8 0 0 1 16 0v11" />
        <path d="M16 12v13" opacity="0.6" />
      </g>
    </svg>
  );
}
