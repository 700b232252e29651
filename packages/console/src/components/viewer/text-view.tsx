import { useMemo, useState } from 'react'
import { jsonText, textStart } from '../../text/json-text.ts'
import { ShowLonger } from '../show-more.tsx'

const FIRST_CHARACTERS = 20_000
const MAX_CHARACTERS = 20_000_000
/** Off-screen pieces are not laid out, which makes ten megabytes bearable. */
const PIECE = 20_000

interface Props {
  value: unknown
  label: string
  isWrapped: boolean
}

/** Text of any length, piece by piece; anything else as JSON. */
export function TextView({ value, label, isWrapped }: Props) {
  const [limit, setLimit] = useState(FIRST_CHARACTERS)
  const { text, whole } = useMemo(
    () => (typeof value === 'string' ? textStart(value, limit) : jsonText(value, limit)),
    [value, limit],
  )
  const pieces = useMemo(() => piecesOf(text), [text])
  return (
    <div className="code">
      <section
        className={
          isSentence(value) ? 'text-sentence' : `code-scroll text-view ${isWrapped ? '' : 'text-unwrapped'}`
        }
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be focusable
        tabIndex={0}
      >
        {pieces.map((piece, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces keep their order
          <pre key={at} className={pieces.length > 1 ? 'text-piece' : undefined}>
            {piece}
          </pre>
        ))}
      </section>
      {!whole && (
        <ShowLonger
          limit={limit}
          most={MAX_CHARACTERS}
          end="The rest is too long for this page: download it."
          onLimit={setLimit}
        />
      )}
    </div>
  )
}

const MAX_SENTENCE = 500

/** Prose rather than code. */
export function isSentence(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_SENTENCE && !/[\n\t]| {2}|[{}<>]/.test(value)
}

/** Splits at line ends if there are any nearby. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    const far = from + PIECE
    const end = far >= text.length ? text.length : text.lastIndexOf('\n', far) + 1
    const to = end > from ? end : Math.min(text.length, far)
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces.length === 0 ? [''] : pieces
}
