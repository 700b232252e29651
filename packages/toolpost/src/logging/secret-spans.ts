import { REMOVED } from './known-secrets.ts'

/** The position of a secret in a text. */
export interface Span {
  from: number
  to: number
}

/** `text` with each span replaced; the spans are in order and do not overlap. */
export function cut(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text
  let clean = ''
  let end = 0
  for (const { from, to } of spans) {
    clean += text.slice(end, from) + REMOVED
    end = to
  }
  return clean + text.slice(end)
}

/** Sorted, with touching spans joined. */
export function merged(spans: Iterable<Span>): Span[] {
  const result: Span[] = []
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}

/** Finds secrets in a text in which others may already have been replaced. */
export type Finder = (text: string) => Span[]

/** Runs the finders in turn, each on what the previous one left; positions are those in `text` itself. */
export function findAll(text: string, finders: readonly Finder[]): Span[] {
  let spans: Span[] = []
  for (const find of finders) {
    const found = find(cut(text, spans))
    if (found.length > 0) spans = merged([...spans, ...found.map(span => inOriginal(span, spans))])
  }
  return spans
}

/** Maps a position in the text with `spans` replaced back to the original text. */
function inOriginal({ from, to }: Span, spans: readonly Span[]): Span {
  let shift = 0
  const original = { from: -1, to: -1 }
  for (const span of spans) {
    const at = span.from - shift
    if (original.from < 0 && from < at + REMOVED.length) original.from = Math.min(from, at) + shift
    if (to <= at) break
    shift += span.to - span.from - REMOVED.length
  }
  return { from: original.from < 0 ? from + shift : original.from, to: to + shift }
}
