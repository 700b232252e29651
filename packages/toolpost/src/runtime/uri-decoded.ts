/** Decodes a URI component; returns it unchanged if it is malformed. */
export function uriDecoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
