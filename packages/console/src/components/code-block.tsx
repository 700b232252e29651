import { useMemo, useState } from 'react'
import { jsonText, type Printed, textStart } from '../text/json-text.ts'
import { ShowLonger } from './show-more.tsx'

/** More is shown on demand and without colours, which would freeze the page. */
const FIRST_CHARACTERS = 20_000
const MAX_CHARACTERS = 500_000

interface Props {
  /** For screen readers. */
  label: string
  className?: string
}

export function TextBlock({ text, ...rest }: Props & { text: string }) {
  return <CodeBlock value={text} print={textStart} {...rest} />
}

export function JsonBlock({ value, ...rest }: Props & { value: unknown }) {
  return <CodeBlock value={value} print={jsonText} isJson {...rest} />
}

/** A paragraph from a tool, which may be very long. */
export function LongText({ text, className }: { text: string; className: string }) {
  const { shown, more } = useGrowing(text, textStart, 1_000)
  return (
    <>
      <p className={className}>
        {shown.text}
        {!shown.whole && '…'}
      </p>
      {more}
    </>
  )
}

interface BlockProps<T> extends Props {
  value: T
  print: (value: T, limit: number) => Printed
  isJson?: boolean
}

/** Preformatted text in a scrolling box that takes the keyboard focus. */
function CodeBlock<T>({ value, print, label, className = '', isJson = false }: BlockProps<T>) {
  const { shown, more } = useGrowing(value, print, FIRST_CHARACTERS)
  return (
    <div className={`code ${className}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be focusable */}
      <section className="code-scroll" aria-label={label} tabIndex={0}>
        <pre>{isJson && shown.whole ? coloured(shown.text) : shown.text}</pre>
      </section>
      {more}
    </div>
  )
}

/** The beginning of something long, and a button for more, up to what the page can handle. */
function useGrowing<T>(value: T, print: (value: T, limit: number) => Printed, first: number) {
  const [limit, setLimit] = useState(first)
  const shown = useMemo(() => print(value, limit), [value, print, limit])
  const end = 'The rest is too long for this page.'
  const more = !shown.whole && <ShowLonger limit={limit} most={MAX_CHARACTERS} end={end} onLimit={setLimit} />
  return { shown, more }
}

const TOKEN = /("(?:[^"\\]|\\[\s\S]?)*(?:"|$))(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g

/** Colours keys, strings and other values; with elements, never HTML. */
function coloured(json: string): React.ReactNode {
  if (json.length > FIRST_CHARACTERS) return json
  const parts: React.ReactNode[] = []
  let end = 0
  for (const match of json.matchAll(TOKEN)) {
    const [token, text, colon] = match
    parts.push(json.slice(end, match.index))
    const kind = text === undefined ? 'json-value' : colon === undefined ? 'json-text' : 'json-key'
    parts.push(
      <span key={match.index} className={kind}>
        {text ?? token}
      </span>,
      colon,
    )
    end = match.index + token.length
  }
  return [...parts, json.slice(end)]
}
