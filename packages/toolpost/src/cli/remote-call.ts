import type { ToolFailure, ToolResult } from '../call/tool-result.ts'
import type { Approval } from '../interceptors/index.ts'
import type { Ask, Question } from '../tools/caller.ts'
import type { Progress } from '../tools/tool.ts'
import type { GatewayClient } from './gateway-client.ts'

/** A quick call is over before it needs progress and questions. */
const WATCH_AFTER_MS = 150

export interface RemoteCall {
  name: string
  args: unknown
  repair: boolean
  timeoutMs: number | undefined
  key: string | undefined
  signal: AbortSignal
  ask: Ask
  onProgress(progress: Progress): void
}

/** Runs a call in the running gateway. `undefined` if it did not: it does not know the tool, is stopping, or has ended. */
export async function callRemotely(
  gateway: GatewayClient,
  call: RemoteCall,
): Promise<ToolResult | undefined> {
  const { name, args, repair, timeoutMs, key, signal, ask } = call
  const startedAt = performance.now()
  const id = `cli-${process.pid}-${Date.now().toString(36)}`
  const over = new AbortController()
  const failed = (code: ToolFailure['code'], error: string): ToolFailure => ({
    ...{ success: false, error, code, tool_name: name },
    execution_time_ms: performance.now() - startedAt,
  })
  let denied: string | undefined
  const watch = () =>
    answerQuestions(gateway, {
      ask,
      over: over.signal,
      isOwn: ({ tool, origin }) => tool === name && (origin === undefined || origin === 'cli'),
      callId: id,
      onProgress: call.onProgress,
      onDenied: reason => {
        denied = reason
        over.abort()
      },
    })
  const timer = setTimeout(() => void watch().catch(() => {}), WATCH_AFTER_MS)
  const stop = () => over.abort()
  signal.addEventListener('abort', stop, { once: true })
  try {
    const { status, body } = await gateway.request(`/api/tools/${encodeURIComponent(name)}/call`, {
      method: 'POST',
      body: args,
      signal: over.signal,
      headers: {
        'x-call-id': id,
        'x-toolpost-client': 'cli',
        prefer: repair ? 'questions, repair' : 'questions',
        ...(timeoutMs !== undefined && { 'x-timeout-ms': String(timeoutMs) }),
        ...(key !== undefined && { 'idempotency-key': JSON.stringify(key) }),
      },
    })
    const { tool_call_id: _, ...result } = (body ?? {}) as ToolResult
    return typeof result.success === 'boolean' && status !== 404 ? (result as ToolResult) : undefined
  } catch (error) {
    if (denied !== undefined) return failed('denied', `Tool '${name}' was denied: ${denied}`)
    if (signal.aborted) return failed('cancelled', `Tool '${name}' was cancelled`)
    const cause = (error as { cause?: NodeJS.ErrnoException }).cause
    if (cause?.code === 'ECONNREFUSED') return undefined
    const lost = 'toolpost up stopped during the call, so its outcome is unknown'
    return failed('unavailable', `The ${name} service is unavailable: ${lost}`)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    over.abort()
  }
}

interface Watching {
  ask: Ask
  /** Aborted when nothing more is of interest. */
  over: AbortSignal
  isOwn(one: { tool?: string | undefined; origin?: string | undefined }): boolean
  /** The call whose progress is shown. */
  callId?: string
  onProgress?(progress: Progress): void
  /** Nobody could be asked for approval. */
  onDenied?(reason: string): void
}

/** Puts the gateway's questions and approvals that are our own to the person at the terminal. Ends with `over`. */
export async function answerQuestions(
  gateway: GatewayClient,
  { ask, over, isOwn, callId, onProgress, onDenied }: Watching,
): Promise<void> {
  const asked = new Set<string>()
  const isNew = (one: { id: string; tool?: string | undefined; origin?: string | undefined }) =>
    isOwn(one) && !asked.has(one.id) && asked.add(one.id)
  const answer = async (question: Question & { id: string }) => {
    const { action, content } = await ask({ ...question, signal: over })
    await gateway.post(`/api/questions/${question.id}`, { action, content })
  }
  const decide = async (approval: Approval) => {
    const { questionOf } = await import('../interceptors/approval.ts')
    const { id, tool, args } = approval
    const { action, reason } = await ask({
      message: questionOf(approval),
      about: { tool, args },
      signal: over,
    })
    if (action === 'cancel') return
    if (reason !== undefined) onDenied?.(reason)
    await gateway.post(`/api/approvals/${id}`, { decision: action === 'accept' ? 'approve' : 'deny' })
  }
  let serial: string | undefined
  // As if it had been here before: then the gateway also sends the calls that are running.
  const headers = { 'last-event-id': '0' }
  for await (const { type, data } of gateway.events('/api/events', { signal: over, headers })) {
    const { id, serial: own, ...progress } = data as { id?: string; serial?: string } & Progress
    if (type === 'call' && id === callId) serial = own
    if (type === 'progress' && own === serial) onProgress?.(progress)
    if (type === 'questions')
      for (const question of (data as { questions: (Question & { id: string })[] }).questions.filter(isNew))
        void answer(question).catch(() => {})
    if (type === 'approvals')
      for (const approval of (data as { approvals: Approval[] }).approvals.filter(isNew))
        void decide(approval).catch(() => {})
  }
}
