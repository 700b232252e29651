/** Decodes a URI component; returns it unchanged if it is malformed. */
export function uriDecoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** User and password, as written in a URL, for an Authorization header. */
export function basicCredentials(username: string, password: string): string {
  return Buffer.from(`${uriDecoded(username)}:${uriDecoded(password)}`).toString('base64')
}
