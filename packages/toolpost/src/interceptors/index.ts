export type { Approval, Decision, RememberedDecision, Verdict } from './approval.ts'
export { Approvals, type ApprovalsOptions } from './approvals.ts'
export { DEFAULT_POLICY, type PolicyRule, policy } from './policy.ts'
export { denied, limited } from './refuse.ts'
