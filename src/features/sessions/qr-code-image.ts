import { toBuffer, toDataURL } from "qrcode";

const OPTIONS = { errorCorrectionLevel: "M", margin: 4, scale: 6 } as const;

/** Renders a QR as `data:image/png;base64,...`. */
export function toQrDataUrl(text: string): Promise<string> {
  return toDataURL(text, OPTIONS);
}

/** Renders a QR as PNG. */
export function toQrPng(text: string): Promise<Buffer> {
  return toBuffer(text, OPTIONS);
}
