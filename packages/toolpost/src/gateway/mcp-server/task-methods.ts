import {
  type CallToolResult,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server'
import { TASKS_EXTENSION } from '../../mcp/tasks.ts'
import { isRecord } from '../../runtime/guards.ts'
import { ELICITATION_MS, TASK_POLL_MS } from '../limits.ts'
import { ClientCall, type Work } from './client-call.ts'
import { capabilitiesOf, type McpRequest } from './client-peer.ts'
import { whenClosed } from './followed-resources.ts'
import type { Task, Tasks } from './tasks.ts'

/** In the `_meta` of requests made on behalf of a task, in 2025-11-25. */
const RELATED_TASK = 'io.modelcontextprotocol/related-task'
/** Whether a result is a task, in either protocol. */
const isTask = (result: unknown) =>
  isRecord(result) &&
  (result.resultType === 'task' || (isRecord(result.task) && result.content === undefined))
/** Accepts every result. */
const ANY_RESULT = {
  '~standard': { version: 1 as const, vendor: 'toolpost', validate: (value: unknown) => ({ value }) },
}

/** The server's task capabilities, in the client's protocol. */
export function taskCapabilities(isNewest: boolean): object {
  return isNewest
    ? { extensions: { [TASKS_EXTENSION]: {} } }
    : { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
}

export function knowsTasks({ extensions }: ClientCapabilities): boolean {
  return isRecord(extensions?.[TASKS_EXTENSION])
}

type Wrapped = Parameters<Server['_wrapHandler']>[1]

/** The SDK's server rejects anything but a result in response to a call; this one lets tasks through. */
export class TaskServer extends Server {
  protected override _wrapHandler(method: string, handler: Wrapped): Wrapped {
    if (method !== 'tools/call') return super._wrapHandler(method, handler)
    return async (request, context) => {
      let created: Result | undefined
      const checked = super._wrapHandler(method, async (...given) => {
        const result = await handler(...given)
        if (!isTask(result)) return result
        created = result
        return { content: [] }
      })
      const result = await checked(request, context)
      return created ?? result
    }
  }
}

/** A task in place of the result of a call. */
export function createdResult(task: Task, isNewest: boolean): CallToolResult {
  const created = isNewest ? { resultType: 'task', ...newestView(task) } : { task: olderView(task) }
  return created as unknown as CallToolResult
}

export interface TaskMethodsOptions {
  tasks: Tasks
  /** The owner of the tasks, for clients with the newest protocol; others have their session's. */
  owner(): string
  /** Resumes a task of another process: a durable run. */
  revive(id: string, context: ServerContext): Promise<ClientCall<CallToolResult> | undefined>
}

/** Handles the task methods of both protocols. */
export function offerTasks(server: Server, { tasks, owner, revive }: TaskMethodsOptions): void {
  const find = async (taskId: string, context: ServerContext) => {
    const { mcpReq } = context
    if (!mcpReq.envelope) return tasks.get(taskId, server)
    if (!knowsTasks(capabilitiesOf(server, mcpReq)))
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
      })
    const call = tasks.has(taskId) ? undefined : await revive(taskId, context)
    // Another request may have added it meanwhile.
    if (call && !tasks.has(taskId)) tasks.add(owner(), call)
    return tasks.get(taskId, owner())
  }
  server.setRequestHandler('tasks/get', { params: TASK_PARAMS }, async ({ taskId }, context) => {
    const task = await find(taskId, context)
    return context.mcpReq.envelope ? detailedView(task) : olderView(task)
  })
  server.setRequestHandler('tasks/update', { params: TASK_PARAMS }, async ({ taskId }, context) => {
    const { envelope, inputResponses = {} } = context.mcpReq
    if (!envelope) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found')
    const { call } = await find(taskId, context)
    call.answer(inputResponses)
    return {}
  })
  server.setRequestHandler('tasks/cancel', { params: TASK_PARAMS }, async ({ taskId }, context) => {
    const task = await find(taskId, context)
    if (!context.mcpReq.envelope && task.isEnded)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task has ended: ${olderStatus(task)}`)
    task.cancel()
    return context.mcpReq.envelope ? {} : olderView(task)
  })
  server.setRequestHandler('tasks/result', { params: TASK_PARAMS }, async ({ taskId }, context) =>
    resultOf(await find(taskId, context), context.mcpReq),
  )
  server.setRequestHandler('tasks/list', { params: ANY_RESULT }, () => ({
    tasks: tasks.of(server).map(olderView),
  }))
  whenClosed(server, () => tasks.endAll(server))
}

/** Starts a call as a task, at the request of a client of 2025-11-25. It belongs to the client's session. */
export function beginTask(
  server: Server,
  tasks: Tasks,
  { ttl, work }: { ttl: number | undefined; work: Work<CallToolResult> },
): CallToolResult {
  const capabilities = server.getClientCapabilities() ?? {}
  const call = new ClientCall({ owner: { client: '', about: '' }, capabilities, work, mayBeTask: true })
  const task = tasks.add(server, call, ttl)
  if (!task) {
    call.giveUp()
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'Too many tasks: try again later')
  }
  task.onStatus = () => {
    // The client may be gone.
    server.notification({ method: 'notifications/tasks/status', params: olderView(task) }).catch(() => {})
  }
  return createdResult(task, false)
}

/** Waits for a task to end, sending its questions to the client meanwhile. */
async function resultOf(task: Task, request: McpRequest): Promise<Result> {
  const _meta = { [RELATED_TASK]: { taskId: task.id } }
  const options = { signal: request.signal, timeout: ELICITATION_MS }
  const stop = task.call.askWith(({ method, params }) =>
    request.send({ method, params: { ...params, _meta } } as never, options),
  )
  try {
    const result = await task.call.result
    task.isDelivered = true
    return { ...result, _meta: { ...result._meta, ..._meta } }
  } finally {
    stop()
  }
}

function baseView({ id, message, createdAt, updatedAt }: Task) {
  const statusMessage = message === undefined ? {} : { statusMessage: message }
  return { taskId: id, ...statusMessage, createdAt, lastUpdatedAt: updatedAt }
}

/** A tool that reports an error makes a failed task in 2025-11-25, and a completed one since. */
function olderStatus({ status, result }: Task): Task['status'] {
  return status === 'completed' && result?.isError ? 'failed' : status
}

function olderView(task: Task) {
  return { ...baseView(task), status: olderStatus(task), ttl: task.ttlMs, pollInterval: TASK_POLL_MS }
}

function newestView(task: Task) {
  return { ...baseView(task), status: task.status, ttlMs: task.ttlMs, pollIntervalMs: TASK_POLL_MS }
}

function detailedView(task: Task): Result {
  const { status, result, error, call } = task
  task.isDelivered ||= task.isEnded
  return {
    ...newestView(task),
    ...(status === 'completed' && { result }),
    ...(status === 'failed' && { error }),
    ...(status === 'input_required' && { inputRequests: call.handOut() }),
  }
}

const TASK_PARAMS: StandardSchemaV1<unknown, { taskId: string }> = {
  '~standard': {
    version: 1,
    vendor: 'toolpost',
    validate: value =>
      isRecord(value) && typeof value.taskId === 'string'
        ? { value: value as { taskId: string } }
        : { issues: [{ message: 'taskId must be a string' }] },
  },
}
