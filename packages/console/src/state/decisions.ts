import { useMemo } from 'react'
import type { Approval } from 'toolpost/gateway'
import { type ApprovalDecision, decideApproval } from '../api/gateway-api.ts'
import { ApiError } from '../api/http.ts'
import { messageOf } from '../text/message-of.ts'
import { oneLine } from '../text/visible-text.ts'
import { gateway } from './gateway.ts'
import { Store, useStore } from './store.ts'

/** What this page did about a pending approval. */
type Mark = 'sending' | 'decided' | 'dismissed'

interface DecisionsState {
  /** By approval id. */
  marks: ReadonlyMap<string, Mark>
  /** Why the last decision was not accepted. */
  problem: string | undefined
}

class Decisions extends Store<DecisionsState> {
  constructor() {
    super({ marks: new Map(), problem: undefined })
  }

  /** Never rejects. */
  async decide({ id, tool }: Approval, decision: ApprovalDecision): Promise<void> {
    this.#mark(id, 'sending')
    this.update({ problem: undefined })
    try {
      await decideApproval(id, decision)
      this.#mark(id, 'decided')
    } catch (error) {
      const isOver = error instanceof ApiError && error.status === 404
      this.#mark(id, isOver ? 'decided' : undefined)
      this.update({ problem: problemText(oneLine(tool, 80), error) })
    }
  }

  /** Hides the notice; the approval stays in the list. */
  dismiss(id: string): void {
    this.#mark(id, 'dismissed')
  }

  forgetProblem(): void {
    this.update({ problem: undefined })
  }

  #mark(id: string, mark: Mark | undefined): void {
    const waiting = new Set(gateway.get().approvals?.map(one => one.id))
    const others = [...this.get().marks].filter(([one]) => one !== id && waiting.has(one))
    this.update({ marks: new Map(mark === undefined ? others : [...others, [id, mark]]) })
  }
}

function problemText(tool: string, error: unknown): string {
  const said = oneLine(messageOf(error))
  if (!(error instanceof ApiError)) return `The decision about ${tool} was not delivered: ${said}.`
  if (error.status === 404)
    return `${tool} is no longer waiting: it has expired, its caller gave up, or it was decided elsewhere.`
  if (error.status === 403) return `You may not decide about ${tool} here: ${said}.`
  return `The gateway did not accept the decision about ${tool}: ${said}.`
}

export const decisions = new Decisions()

/** What is still waiting, as far as this page knows; `undefined` until the list was read. */
export function useWaiting(): Approval[] | undefined {
  const approvals = useStore(gateway, state => state.approvals)
  const marks = useStore(decisions, state => state.marks)
  return useMemo(() => approvals?.filter(({ id }) => marks.get(id) !== 'decided'), [approvals, marks])
}
