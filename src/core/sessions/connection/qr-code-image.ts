const OPTIONS = { errorCorrectionLevel: "M", margin: 4, scale: 6 } as const;

/** Renders a QR as `data:image/png;base64,...`. */
export async function toQrDataUrl(text: string): Promise<string> {
  const { toDataURL } = await import("qrcode");
  return toDataURL(text, OPTIONS);
}

/** Renders a QR as PNG. */
export async function toQrPng(text: string): Promise<Buffer> {
  const { toBuffer } = await import("qrcode");
  return toBuffer(text, OPTIONS);
}
