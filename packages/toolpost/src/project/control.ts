import type { ToolpostConfig } from '../config/config.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import { type Approvals, DEFAULT_POLICY, policy } from '../interceptors/index.ts'

/** Puts around every call what the configuration says about it, outermost first; returns a function that removes it. */
export function addControl(executor: ToolExecutor, config: ToolpostConfig, approvals: Approvals): () => void {
  const removals = [policy(config.policy ?? DEFAULT_POLICY, { approvals })].map(interceptor =>
    executor.use(interceptor),
  )
  return () => {
    for (const remove of removals) remove()
  }
}
