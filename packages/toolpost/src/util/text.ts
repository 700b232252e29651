/** The beginning of a text of any length, for a message that a person or a model reads. */
export function shortText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}…`
}

/** Characters that people do not see but models read: tags, zero-width characters, writing directions, unused selectors. */
export const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e01ef}]/gu

export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '')
}

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

/** Whether a host, as written in a URL or a setting, is this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

const patterns = new Map<string, RegExp>()

/** `*` matches any characters, `?` one. Patterns are the configuration's: each is compiled once. */
export function fitsGlob(name: string, glob: string): boolean {
  let pattern = patterns.get(glob)
  if (!pattern) {
    const escaped = glob.replace(/[\\^$.+()[\]{}|/]/g, '\\$&')
    pattern = new RegExp(`^${escaped.replace(/\*+/g, '.*').replaceAll('?', '.')}$`, 's')
    patterns.set(glob, pattern)
  }
  return pattern.test(name)
}

/** Why a pattern would not do what its author expects; `undefined` if it would. */
export function globProblem(glob: string): string | undefined {
  if (/[[\]{}()|^$\\!,]/.test(glob)) return `invalid pattern '${glob}'; only * and ? are wildcards`
  const isTidy = glob !== '' && glob === glob.trim() && !/\p{Cc}/u.test(glob)
  return isTidy ? undefined : `invalid pattern '${glob}'; remove whitespace and control characters`
}
