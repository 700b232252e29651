import { Suspense, useState } from 'react'
import { visibleText } from '../text/visible-text.ts'
import { Button } from './controls.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { lazily } from './lazily.ts'

const Rendered = lazily(() => import('./rendered-markdown.tsx'), 'RenderedMarkdown')

/** More would freeze the page. */
const MAX_MARKDOWN = 100_000

/** Markdown from a tool, a server or a model: HTML is text, images are links, and links lead only to the web. */
export function Markdown({ text, first = 20_000 }: { text: string; first?: number }) {
  const [limit, setLimit] = useState(first)
  const shown = text.length > limit ? `${text.slice(0, limit)}…` : text
  const plain = <p className="whitespace-pre-wrap">{visibleText(shown)}</p>
  return (
    <div className="prose">
      {hasMarks(shown) ? (
        <ErrorBoundary key={shown} fallback={plain}>
          <Suspense fallback={plain}>
            <Rendered text={shown} />
          </Suspense>
        </ErrorBoundary>
      ) : (
        plain
      )}
      {text.length > limit && limit < MAX_MARKDOWN && (
        <Button className="self-start" onClick={() => setLimit(MAX_MARKDOWN)}>
          Show more
        </Button>
      )}
    </div>
  )
}

/** Whether there is anything to render: plain sentences need no parser. */
function hasMarks(text: string): boolean {
  return /[*_`#>[\]|~\\&]|https?:|www\.|\n\s*\n|(?:^|\n) {0,3}(?:[-+]|\d+[.)]) |\n {0,3}[=-]/.test(text)
}

const SIGNS = [
  /^ {0,3}#{1,6} \S/m,
  /^ {0,3}(?:```|~~~)/m,
  /^ {0,3}(?:[-*+]|\d{1,9}[.)]) \S/m,
  /^\|.*\|\s*$/m,
  /\*\*\S/,
  /\]\(https?:/,
]

/** Whether a tool's text was meant as Markdown: a single sign is chance, unless it is a heading or a fence. */
export function looksLikeMarkdown(text: string): boolean {
  const found = SIGNS.map(sign => sign.test(text.slice(0, 20_000)))
  return found[0] === true || found[1] === true || found.filter(Boolean).length >= 2
}
