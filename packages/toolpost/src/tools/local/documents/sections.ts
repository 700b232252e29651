/** A part of a document, indexed and found as a unit. */
export interface Section {
  readonly id: string
  readonly file: string
  /** The headings above the text, outermost first; the name of the file if there are none. */
  readonly heading: string
  readonly text: string
}

/** Long enough for one thought, short enough to point to it. */
const MAX_SECTION_CHARS = 1_500
const TRAIL_MARK = ' › '

/** Splits a document at its Markdown headings, and sections that are still too long between paragraphs. */
export function splitSections(file: string, content: string): Section[] {
  const text = content
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .normalize('NFC')
  const blocks = /\.txt$/i.test(file) ? [{ heading: '', text }] : splitAtHeadings(text)
  return blocks
    .flatMap(block => chunk(block.text).map(text => ({ heading: block.heading || titleOf(file), text })))
    .map((part, index) => ({ id: `${file}#${index}`, file, ...part }))
}

interface Block {
  heading: string
  text: string
}

function splitAtHeadings(text: string): Block[] {
  const blocks: { heading: string; lines: string[] }[] = [{ heading: '', lines: [] }]
  const trail: (string | undefined)[] = []
  let fence: string | undefined
  for (const line of text.split('\n')) {
    fence = fenceAfter(fence, line)
    const heading = fence === undefined ? headingOf(line) : undefined
    if (heading) {
      trail.length = heading.level - 1
      trail[heading.level - 1] = heading.title
      blocks.push({ heading: trail.filter(Boolean).join(TRAIL_MARK), lines: [] })
    } else blocks.at(-1)?.lines.push(line)
  }
  return blocks
    .map(({ heading, lines }) => ({ heading, text: lines.join('\n').trim() }))
    .filter(saysSomething)
}

/** The code fence still open after this line: a `# comment` in a code block is not a heading. */
function fenceAfter(open: string | undefined, line: string): string | undefined {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
  if (mark === undefined) return open
  if (open === undefined) return mark
  return mark.startsWith(open) ? undefined : open
}

function headingOf(line: string): { level: number; title: string } | undefined {
  const [, marks, title] = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/.exec(line) ?? []
  if (marks === undefined || title === undefined) return undefined
  return {
    level: marks.length,
    title: title
      .trimEnd()
      .replace(/[ \t]#+$/, '')
      .trimEnd(),
  }
}

/** A heading with nothing below it is kept, unless the headings of the next block repeat it. */
function saysSomething({ heading, text }: Block, index: number, blocks: readonly Block[]): boolean {
  return text !== '' || (heading !== '' && !blocks[index + 1]?.heading.startsWith(`${heading}${TRAIL_MARK}`))
}

function chunk(text: string): string[] {
  const chunks: string[] = []
  let current = ''
  for (const piece of text.split(/\n{2,}/).flatMap(cutLong)) {
    if (current && current.length + piece.length > MAX_SECTION_CHARS) {
      chunks.push(current)
      current = piece
    } else current = current ? `${current}\n\n${piece}` : piece
  }
  return [...chunks, current]
}

/** Pieces of a paragraph, cut at whitespace if possible. */
function cutLong(paragraph: string): string[] {
  const pieces: string[] = []
  let rest = paragraph
  while (rest.length > MAX_SECTION_CHARS) {
    const blank = Math.max(
      rest.lastIndexOf(' ', MAX_SECTION_CHARS),
      rest.lastIndexOf('\n', MAX_SECTION_CHARS),
    )
    const end = blank > MAX_SECTION_CHARS / 2 ? blank : MAX_SECTION_CHARS
    pieces.push(rest.slice(0, end).trim())
    rest = rest.slice(end)
  }
  return [...pieces, rest.trim()]
}

/** `house/waste-collection.md` is about "waste collection". */
function titleOf(file: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1).replace(/\.\w+$/, '')
  return name.replace(/[-_]+/g, ' ')
}
