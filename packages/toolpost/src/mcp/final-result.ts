import { setTimeout as pause } from 'node:timers/promises'
import { isRecord } from '../util/guards.ts'
import { MAX_INPUT_ROUNDS, REQUEST_TIMEOUT_MS } from './limits.ts'
import { type Params, RpcError, rpcErrorOf } from './peer.ts'
import { OUTCOME_UNKNOWN, ServerFailure } from './server-failure.ts'
import { answerAll } from './server-requests.ts'
import type { RequestOptions, Session } from './session.ts'

const OPEN = ['working', 'input_required']
const STATUSES = [...OPEN, 'completed', 'failed', 'cancelled']
/** A task is polled as often as its server says, within these bounds. */
const MIN_POLL_MS = 100
const MAX_POLL_MS = 10_000

type Answer = (questions: unknown) => Promise<Params>

/**
 * Sends a request and resolves to its final result. Servers of the newest protocol may ask for input in place of a result:
 * the request is then repeated with the answers. Or they turn it into a task, which is waited for.
 */
export async function finalResult(
  session: Session,
  method: string,
  params: object,
  options: RequestOptions,
): Promise<unknown> {
  let result = await session.request(method, params, options)
  session.hasAnswered = true
  if (!isOfType(result, 'input_required') && !isOfType(result, 'task')) return result
  // Not before: the executor creates the signal of a call when it is first read.
  const { from, signal = from?.signal } = options
  let rounds = 0
  const answer: Answer = async questions => {
    if (++rounds > MAX_INPUT_ROUNDS)
      throw new Error(`The server asked for input more than ${MAX_INPUT_ROUNDS} times`)
    return answerAll(session.server, questions, { from, signal })
  }
  try {
    while (isOfType(result, 'input_required')) {
      const { inputRequests, requestState } = result
      const inputResponses = await answer(inputRequests)
      signal?.throwIfAborted()
      const state = typeof requestState === 'string' && { requestState }
      result = await session.request(method, { ...params, inputResponses, ...state }, options)
    }
    return isOfType(result, 'task')
      ? await followTask(result, answer, session, { ...options, signal })
      : result
  } catch (error) {
    // The server has begun to work on it, even if the last message could not be sent.
    throw error instanceof ServerFailure && error.isLoss ? error.as('lost') : error
  }
}

function isOfType(result: unknown, type: string): result is Params {
  return isRecord(result) && result.resultType === type
}

/** Waits for a task, and cancels it if the caller gives up. Resolves to the raw result; rejects with the server's own message. */
async function followTask(
  created: Params,
  answer: Answer,
  session: Session,
  { from, onProgress, signal = new AbortController().signal }: RequestOptions,
): Promise<unknown> {
  from?.onTask?.()
  let task = checkedTask(created)
  const { taskId } = task
  const request = (method: string, params: object = {}) =>
    session.request(method, { taskId, ...params }, { from, signal })
  const answered = new Set<string>()
  let steps = 0
  let told = ''
  try {
    // The first wait is short: many tasks are.
    for (let waitMs = MIN_POLL_MS; ; waitMs = Math.max(MIN_POLL_MS, Number(task.pollIntervalMs) || 500)) {
      signal.throwIfAborted()
      const { status, statusMessage: text, inputRequests } = task
      const message = typeof text === 'string' ? text : undefined
      const news = `${task.lastUpdatedAt} ${message}`
      if (told !== news) onProgress?.({ progress: ++steps, message })
      told = news
      if (status === 'completed') return task.result
      if (status === 'failed') throw rpcErrorOf(task.error ?? { message })
      if (status === 'cancelled')
        throw new RpcError(`The server cancelled the task${message === undefined ? '' : `: ${message}`}`)
      const asked =
        status === 'input_required' && isRecord(inputRequests) ? Object.entries(inputRequests) : []
      const fresh = asked.filter(([key]) => !answered.has(key))
      if (fresh.length > 0) {
        const inputResponses = await answer(Object.fromEntries(fresh))
        for (const [key] of fresh) answered.add(key)
        await request('tasks/update', { inputResponses })
      }
      await pause(Math.min(waitMs, MAX_POLL_MS), undefined, { signal })
      const now = await request('tasks/get').catch(error => {
        if (!(error instanceof RpcError) || error.rpcCode === undefined) throw error
        throw new RpcError(`The server no longer knows the task: ${error.message}${OUTCOME_UNKNOWN}`)
      })
      task = checkedTask(now)
      if (task.taskId !== taskId) throw malformed('the server described another task')
    }
  } catch (error) {
    if (OPEN.includes(String(task.status)))
      session.request('tasks/cancel', { taskId }, { timeoutMs: REQUEST_TIMEOUT_MS }).catch(() => {})
    throw error
  }
}

function checkedTask(task: unknown): Params & { taskId: string } {
  if (!isRecord(task) || !STATUSES.includes(String(task.status))) throw malformed('it has no valid status')
  if (typeof task.taskId !== 'string' || task.taskId === '') throw malformed('it has no id')
  return task as Params & { taskId: string }
}

function malformed(problem: string): RpcError {
  return new RpcError(`Malformed MCP task: ${problem}`)
}
