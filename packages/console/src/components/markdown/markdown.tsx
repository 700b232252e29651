import { Suspense, useState } from 'react'
import { visibleText } from '../../text/visible-text.ts'
import { ErrorBoundary } from '../error-boundary.tsx'
import { lazyPart } from '../lazy-part.ts'
import { ShowLonger } from '../show-more.tsx'
import { FIRST_MARKDOWN, hasMarks, MAX_MARKDOWN } from './marks.ts'

const Rendered = lazyPart(async () => (await import('./rendered-markdown.tsx')).RenderedMarkdown)

interface Props {
  text: string
  className?: string
  /** How much is shown initially. */
  first?: number
}

/**
 * Markdown from a tool, a server or a model, as page elements: HTML is shown as text, images become links, and
 * links lead only to the web. Long text is shown on demand.
 */
export function Markdown({ text, className = '', first = FIRST_MARKDOWN }: Props) {
  const [limit, setLimit] = useState(first)
  const shown = text.length > limit ? `${text.slice(0, limit)}…` : text
  return (
    <>
      <div className={`prose ${className}`}>
        <Whole text={shown} />
      </div>
      {text.length > limit && (
        <ShowLonger
          limit={limit}
          most={MAX_MARKDOWN}
          end="The rest is too long to render; see the text."
          onLimit={setLimit}
        />
      )}
    </>
  )
}

function Whole({ text }: { text: string }) {
  const plain = <p>{visibleText(text)}</p>
  if (!hasMarks(text)) return plain
  return (
    <ErrorBoundary fallback={plain}>
      <Suspense fallback={plain}>
        <Rendered text={text} />
      </Suspense>
    </ErrorBoundary>
  )
}
