import type { ToolpostConfig } from '../config/config.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import { Approvals, DEFAULT_POLICY, policy, trace } from '../interceptors/index.ts'
import { exportAddress } from '../telemetry/export.ts'
import type { Description } from './open-project.ts'
import { RememberedDecisions } from './remembered-decisions.ts'

/** What goes around the calls of a project, as its configuration says. */
export class Control {
  /** Calls that a person is asked about. */
  readonly approvals: Approvals
  readonly #executor: ToolExecutor
  #removals: readonly (() => void)[] = []

  /** Throws a ConfigError if the decisions that were made for good cannot be read. */
  constructor(executor: ToolExecutor, { config, file }: Description) {
    const remembered = new RememberedDecisions(file)
    this.#executor = executor
    this.approvals = new Approvals({
      timeoutMs: config.approvals?.timeoutMs,
      remembered: remembered.decisions,
      onRemember: decision => remembered.add(decision),
    })
    this.apply(config)
  }

  /** Puts the interceptors around every call from now on, outermost first, in place of those before. */
  apply(config: ToolpostConfig): void {
    for (const remove of this.#removals) remove()
    const interceptors = [
      ...(isTraced(config) ? [trace(config.trace || {})] : []),
      policy(config.policy ?? DEFAULT_POLICY, { approvals: this.approvals }),
    ]
    this.#removals = interceptors.map(interceptor => this.#executor.use(interceptor))
  }

  close(): void {
    this.approvals.close()
  }
}

/** Whether calls and models are traced: if the configuration or the environment wants it, and the former does not forbid it. */
export function isTraced({ trace }: ToolpostConfig): boolean {
  return trace !== false && (trace !== undefined || exportAddress(process.env) !== undefined)
}
