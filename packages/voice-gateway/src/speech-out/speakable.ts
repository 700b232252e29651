const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/**
 * One rule after the other: what is found, and what a voice says instead. A model may write anything, so none may
 * look at the same characters again from each place: a run is looked for only from where it begins.
 */
const RULES: readonly (readonly [RegExp, string | ((...parts: string[]) => string)])[] = [
  [/\r\n?|[\u2028\u2029]/g, '\n'],
  [/[ \t]+/g, ' '],
  // Code is for the eye.
  [/^[ \t]*(```|~~~).*\n[\s\S]*?(?:^[ \t]*\1.*$|(?![\s\S]))/gm, '\n'],
  [/<!--(?:(?!<!--)[\s\S])*?-->/g, ' '],
  [/!?\[([^[\]\n]*)\]\([^()\n]*\)/g, '$1'],
  [/!?\[([^[\]\n]+)\]\[[^[\]\n]*\]/g, '$1'],
  [/<?(?:https?|ftp|mqtts?|wss?):\/\/[^\s<>"'`)\]]+>?/gi, url => ` ${hostOf(url)}`],
  [/\bwww\.(?=[\w-]+\.)/gi, ''],
  [/<\/?[a-z][^<>\n]*>/gi, ' '],
  [/^[ \t]*(?:>[ \t]?)+/gm, ''],
  [/^[ \t]*#{1,6}[ \t]+/gm, ''],
  [/^[ \t]*(?:[-*_=][ \t]*){3,}$/gm, ''],
  [/^(?=[ \t|:-]*--)[ \t|:-]+$/gm, ''],
  [/^[ \t]*[-*+•‣◦▪–—][ \t]+/gm, ''],
  [/^[ \t]*\[[ xX]\][ \t]+/gm, ''],
  [/^[ \t]*\||\|[ \t]*$/gm, ''],
  [/\|/g, ', '],
  [/&(amp|lt|gt|quot|apos|nbsp);/g, (_whole, name = '') => ENTITIES[name] ?? ' '],
  [/(?<=\d)[ \t]*[*×][ \t]*(?=\d)/g, ' times '],
  [/[→⇒⟶]|(?<=\s)[-=]>(?=\s)/g, ' to '],
  [/\\([\\`*_{}[\]()#+.!~-])/g, '$1'],
  [/~~|[*`]/g, ''],
  [/(?<=[\p{L}\p{N}])_+(?=[\p{L}\p{N}])/gu, ' '],
  [/_/g, ''],
  // Keycaps, flags, pictures with their modifiers.
  [/\p{Regional_Indicator}|\p{Emoji_Modifier}|[\u{e0020}-\u{e007f}]|\ufe0e|\ufe0f|\u20e3/gu, ''],
  [/\p{Extended_Pictographic}/gu, ' '],
  [/(?<=[\p{L}\p{N}])[ \t]*\n+/gu, '. '],
  [/[\p{Cc}\p{Cs}\p{Co}]/gu, ' '],
  [/\p{Cf}/gu, ''],
  [/\s+/g, ' '],
  [/ (?=[,.;:!?](?: |$))/g, ''],
]

/** What a voice can say of a text that was written for the eye; empty if there is nothing to say. */
export function speakable(text: string): string {
  const said = RULES.reduce((rest, [found, instead]) => rest.replace(found, instead as string), text).trim()
  return /[\p{L}\p{N}]/u.test(said) ? said : ''
}

/** Whether a line begins or ends a block of code. */
export function isCodeFence(line: string): boolean {
  return /^\s*(```|~~~)/.test(line) && !/^\s*```[^`]+```/.test(line)
}

/** Longer ones are sentences of their own. */
const LONGEST_ITEM_CHARACTERS = 60

/** What a line of a list says, if it is a short one. */
export function listItem(line: string): string | undefined {
  if (line.length > LONGEST_ITEM_CHARACTERS) return undefined
  const item = /^\s*(?:[-*+•‣◦▪]|\d{1,3}[.)])[ \t]+(\S.*)$/.exec(line)?.[1]
  return item !== undefined && !/[.!?:]["')*_`]*$/.test(item) ? item : undefined
}

/** `one, two and three`. */
export function listed(items: readonly string[]): string {
  const said = items.filter(item => item !== '')
  const last = said.at(-1) ?? ''
  return said.length < 2 ? last : `${said.slice(0, -1).join(', ')} and ${last}`
}

function hostOf(url: string): string {
  return (/:\/\/(?:[^/@]*@)?(?:www\.)?([^/:?#>]*)/i.exec(url)?.[1] ?? '').replace(/(?<![.,;!?])[.,;!?]+$/, '')
}
