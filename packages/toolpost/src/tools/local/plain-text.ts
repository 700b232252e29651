import { ownValue } from '../../runtime/guards.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  ndash: '–',
  mdash: '—',
}

/** Text on one line, without tags and entities; empty for anything but a string. */
export function plainText(html: unknown): string {
  if (typeof html !== 'string') return ''
  return html
    .replace(/<\/?[a-z!][^<>]*>/gi, ' ')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi, decodeEntity)
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,;:!?)])/g, '')
    .trim()
}

function decodeEntity(entity: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ownValue(ENTITIES, name) ?? entity
  const codePoint = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  return codePoint > 0 && codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : entity
}
