/** How many QRs are shown, and for how long, in milliseconds. */
export interface QrTiming {
  /** Maximum number of QRs in one pairing. */
  qrAttempts: number;
  /** The network accepts the first QR of a connection for longer. */
  firstQrMs: number;
  laterQrMs: number;
  /** Time needed to scan a redrawn QR; with less left, the next one is shown instead. */
  scanMs: number;
}

export const QR_TIMING: QrTiming = {
  qrAttempts: 5,
  firstQrMs: 60_000,
  laterQrMs: 20_000,
  scanMs: 10_000,
};
