/**
 * Characters that people do not see but models read: tags (which mirror ASCII), zero-width characters, marks and overrides
 * of the writing direction, and variation selectors that no font uses.
 */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e01ef}]/gu

export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '')
}

/** Shows them as text (`\u200b`, `\u{e0041}`). */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, character => {
    const code = (character.codePointAt(0) as number).toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}
