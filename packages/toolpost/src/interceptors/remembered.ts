import type { CallContext } from '../executor/context.ts'
import { quietly } from '../runtime/quietly.ts'
import { type Approval, type Decision, isAbout, type RememberedDecision } from './approval.ts'

/** Stores a decision permanently. If it throws or rejects, the decision holds until the process ends. */
export type Keep = (decision: RememberedDecision) => void | Promise<void>

/** Decisions that apply to later calls, newest first. */
export class Remembered {
  #decisions: readonly RememberedDecision[]
  /** Those that their owner stores, and passes again to `update`. */
  readonly #kept: WeakSet<RememberedDecision>

  constructor(kept: readonly RememberedDecision[] = []) {
    this.#decisions = kept
    this.#kept = new WeakSet(kept)
  }

  find(call: CallContext): RememberedDecision | undefined {
    return this.#decisions.find(decision => isAbout(decision, call))
  }

  /** Applies the decision to later calls of this tool and caller, if `about` says so. `keep` stores permanent ones. */
  note(approval: Approval, decision: 'approve' | 'deny', about: Decision, keep: Keep | undefined): void {
    const { by, remember } = about
    if (!remember) return
    const { tool, server, origin, caller } = approval
    const [then, word] =
      decision === 'approve' ? (['allow', 'approved'] as const) : (['deny', 'denied'] as const)
    const because = `${word}${by ? ` by ${by}` : ''}, remembered`
    this.#add({ tool, server, origin, caller, then, because }, remember === 'always' ? keep : undefined)
  }

  #add(decision: RememberedDecision, keep: Keep | undefined): void {
    this.#decisions = [decision, ...this.#decisions]
    if (!keep) return
    this.#kept.add(decision)
    quietly(
      () => keep(decision),
      () => this.#kept.delete(decision),
    )
  }

  /** Replaces the stored decisions; those for the session stay. */
  update(kept: readonly RememberedDecision[]): void {
    this.#decisions = [...this.#decisions.filter(decision => !this.#kept.has(decision)), ...kept]
    for (const decision of kept) this.#kept.add(decision)
  }
}
