import type { CallContext } from '../executor/context.ts'
import type { Approval, Decision, Verdict } from './approval.ts'

/** Calls whose approval outlives this process, and can be asked for and granted in others. */
export interface SharedApprovals {
  /** `undefined` if the call is not one of them. */
  request(call: CallContext, asked: Approval): Promise<Verdict> | undefined
  decide(id: string, decision: 'approve' | 'deny', about: Decision): Promise<unknown>
}

/** The approvals shared with other processes, as far as known here. */
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

  request(call: CallContext, asked: Approval): Promise<Verdict> | undefined {
    return this.#sharing?.request(call, asked)
  }

  /** `undefined` if nothing waits under that id. If the decision cannot be stored, the call keeps waiting and stays listed. */
  decide(id: string, decision: 'approve' | 'deny', about: Decision): Approval | undefined {
    const approval = this.approvals.find(each => each.id === id)
    if (approval) this.#sharing?.decide(id, decision, about).catch(() => {})
    return approval
  }
}
