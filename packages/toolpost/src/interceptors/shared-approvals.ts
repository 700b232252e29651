import type { InterceptedCall } from '../executor/intercept.ts'
import type { Approval, Decision, Verdict } from './approval.ts'

/** Calls whose approval outlives this process, and is asked for and given in others as well. */
export interface SharedApprovals {
  /** `undefined` if the call is not one of those. */
  request(call: InterceptedCall, asked: Approval): Promise<Verdict> | undefined
  decide(id: string, decision: 'approve' | 'deny', about: Decision): Promise<unknown>
}

/** What waits in whatever is shared with other processes, as far as it is known here. */
export class SharedList {
  approvals: readonly Approval[] = []
  readonly #tell: () => void
  #sharing: SharedApprovals | undefined

  constructor(tell: () => void) {
    this.#tell = tell
  }

  get isEmpty(): boolean {
    return this.approvals.length === 0
  }

  share(sharing: SharedApprovals): () => void {
    this.#sharing = sharing
    return () => {
      this.#sharing = undefined
      this.show([])
    }
  }

  show(approvals: readonly Approval[]): void {
    this.approvals = approvals
    this.#tell()
  }

  request(call: InterceptedCall, asked: Approval): Promise<Verdict> | undefined {
    return this.#sharing?.request(call, asked)
  }

  /** `undefined` if nothing waits by that id. If the decision cannot be noted, the call goes on waiting, and is shown as before. */
  decide(id: string, decision: 'approve' | 'deny', about: Decision): Approval | undefined {
    const approval = this.approvals.find(each => each.id === id)
    if (approval) this.#sharing?.decide(id, decision, about).catch(() => {})
    return approval
  }
}
