import { useState } from 'react'
import { bytesText } from '../text/figures.ts'
import { jsonText, visibleText } from '../text/visible-text.ts'

/** More than this is shown on demand, and coloured never: it would freeze the page. */
const SHOWN_CHARACTERS = 20_000

interface Props {
  text: string
  /** For screen readers. */
  label: string
  className?: string
}

/** Text as it is, in a box that scrolls by itself and can be reached with the keyboard. */
function CodeBlock({ text, label, className = '' }: Props) {
  const [whole, setWhole] = useState(false)
  const shown = whole ? text : text.slice(0, SHOWN_CHARACTERS)
  return (
    <div className={`code ${className}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to take the focus */}
      <section className="code-scroll" aria-label={label} tabIndex={0}>
        <pre>{shown}</pre>
      </section>
      {shown.length < text.length && (
        <button type="button" className="button button-quiet" onClick={() => setWhole(true)}>
          Show all {bytesText(text.length)}
        </button>
      )}
    </div>
  )
}

export function TextBlock({ text, ...rest }: Props) {
  return <CodeBlock text={visibleText(text)} {...rest} />
}

export function JsonBlock({ value, label }: { value: unknown; label: string }) {
  const text = jsonText(value)
  if (text.length > SHOWN_CHARACTERS) return <CodeBlock text={text} label={label} />
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to take the focus */}
      <section className="code-scroll" aria-label={label} tabIndex={0}>
        <pre>{coloured(text)}</pre>
      </section>
    </div>
  )
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g

/** Keys, texts and other values in colours of their own; elements, never HTML. */
function coloured(json: string) {
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
