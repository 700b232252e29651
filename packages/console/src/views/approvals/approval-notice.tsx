import { useEffect } from 'react'
import { IconButton } from '../../components/button.tsx'
import { hrefOf, type Route } from '../../routing/route.ts'
import { decisions, useWaiting } from '../../state/decisions.ts'
import { useStore } from '../../state/store.ts'
import { counted } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { ApprovalCard } from './approval-card.tsx'

/**
 * The oldest waiting call, over any view. A region, not a dialog: it never steals the focus from somebody typing, is
 * announced politely, comes right after the navigation for the keyboard, and can be dismissed: it stays in the list.
 */
export function ApprovalNotice({ view }: { view: Route['view'] }) {
  const waiting = useWaiting() ?? []
  const marks = useStore(decisions, state => state.marks)
  const problem = useStore(decisions, state => state.problem)
  const [first, ...more] = waiting.filter(({ id }) => marks.get(id) !== 'dismissed')
  const isShown = view !== 'approvals' && (first !== undefined || problem !== undefined)
  useEscape(isShown ? first?.id : undefined)
  return (
    <>
      <p role="status" className="visually-hidden">
        {waiting.length > 0 &&
          `${counted(waiting.length, 'call')} waiting for approval, the latest: ${oneLine(waiting.at(-1)?.tool ?? '', 80)}`}
      </p>
      {isShown && (
        <section className="approval-notice" aria-label="Waiting for approval">
          <DecisionProblem />
          {first && (
            <ApprovalCard
              key={first.id}
              approval={first}
              place={first.id}
              onDismiss={() => decisions.dismiss(first.id)}
            />
          )}
          {more.length > 0 && (
            <a className="approval-more" href={hrefOf({ view: 'approvals' })}>
              {counted(more.length, 'more call')} waiting
            </a>
          )}
        </section>
      )}
    </>
  )
}

export function DecisionProblem() {
  const problem = useStore(decisions, state => state.problem)
  if (problem === undefined) return null
  return (
    <div className="notice notice-warn approval-head" role="alert">
      <p>{problem}</p>
      <IconButton icon="close" label="Close this message" onClick={() => decisions.forgetProblem()} />
    </div>
  )
}

/** Inside the notice, or where nothing else handles the key. */
function useEscape(id: string | undefined): void {
  useEffect(() => {
    if (id === undefined) return
    const onKey = ({ key, target }: KeyboardEvent) => {
      const isOurs = target instanceof Element && target.matches('body, main, .approval-notice *')
      if (key === 'Escape' && isOurs) decisions.dismiss(id)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [id])
}
