import { ErrorBoundary } from '../../components/error-boundary.tsx'
import { useOpenQuestions } from '../../state/answers.ts'
import { counted } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { QuestionCard } from './question-card.tsx'

/** The oldest open question, over any view. Like an approval, it never steals the focus from somebody typing. */
export function QuestionNotice() {
  const [first, ...more] = useOpenQuestions()
  return (
    <>
      <p role="status" className="visually-hidden">
        {first &&
          `${oneLine(first.server ?? first.tool ?? 'A tool', 80)} asks: ${oneLine(first.message, 200)}`}
      </p>
      {first && (
        <section className="question-notice" aria-label="Questions">
          <ErrorBoundary key={first.id}>
            <QuestionCard question={first} />
          </ErrorBoundary>
          {more.length > 0 && <p className="approval-more">{counted(more.length, 'more question')}</p>}
        </section>
      )}
    </>
  )
}
