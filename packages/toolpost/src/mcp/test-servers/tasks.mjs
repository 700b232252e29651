// A hand-written stdio server whose calls become tasks: `legacy` as in 2025-11-25, `modern` as in the extension. `how` makes
// a call go wrong. Every request is recorded in the file of the second argument.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , era, journal] = process.argv
const isModern = era === 'modern'
const EXTENSION = 'io.modelcontextprotocol/tasks'
const tasks = new Map()
const waiting = new Map()
let asked = 0

const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const complete = result => (isModern ? { resultType: 'complete', ...result } : result)
const reply = (id, result) => send({ id, result })
const refuse = (id, message, code = -32602) => send({ id, error: { code, message } })
const text = words => ({ content: [{ type: 'text', text: words }] })

const POLLS = { poll_zero: 0, poll_huge: 1e12, patient: 60_000 }
const ENDINGS = { failing: 'failed', cancelled_there: 'cancelled' }

function view({ taskId, how, status, statusMessage }) {
  const poll = POLLS[how] ?? 1
  const now = new Date().toISOString()
  const times = isModern ? { ttlMs: 60_000, pollIntervalMs: poll } : { ttl: 60_000, pollInterval: poll }
  return { taskId, status, statusMessage, createdAt: now, lastUpdatedAt: now, ...times }
}

function detailed(task) {
  const { status, how } = task
  if (!isModern) return view(task)
  return complete({
    ...view(task),
    ...(status === 'completed' && { result: resultOf(task) }),
    ...(status === 'failed' && { error: { code: -32000, message: 'it broke' } }),
    ...(how === 'asking' && status === 'input_required' && { inputRequests: { name: question() } }),
    ...(how === 'asking_forever' && { inputRequests: { [`name${++asked}`]: question() } }),
  })
}

function question() {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
  return { method: 'elicitation/create', params: { mode: 'form', message: 'Who is it?', requestedSchema } }
}

function resultOf({ how, name }) {
  if (how === 'failing') return { ...text('it broke'), isError: true }
  return text(name ? `done for ${name}` : 'done')
}

function create(id, { how = 'plain', taskId: wanted } = {}) {
  const taskId = wanted ?? (how === 'huge_id' ? 'x'.repeat(1024 * 1024) : `task-${tasks.size + 1}`)
  const task = { taskId, how, status: 'working', statusMessage: 'begun', looks: 0 }
  tasks.set(taskId, task)
  if (how === 'asking' || how === 'asking_forever') task.status = 'input_required'
  if (how === 'no_status') task.status = 'resting'
  if (how === 'slow_to_create') return void setTimeout(() => answerCreated(id, task), 300)
  answerCreated(id, task)
  if (how === 'storm')
    for (let at = 0; at < 20_000; at++)
      send({ method: 'notifications/tasks/status', params: { ...view(task), statusMessage: `step ${at}` } })
}

function answerCreated(id, task) {
  reply(id, isModern ? { resultType: 'task', ...view(task) } : { task: view(task) })
}

function end(task, status = ENDINGS[task.how] ?? 'completed') {
  task.status = status
  task.statusMessage = status === 'cancelled' ? 'somebody else did' : 'ended'
  for (const tell of waiting.get(task.taskId) ?? []) tell()
}

const ENDLESS = new Set(['patient', 'never', 'asking', 'asking_forever', 'deaf'])

function get(id, task) {
  task.looks++
  if (task.how === 'forgetful' && task.looks > 1) return refuse(id, 'Task not found')
  if (task.how === 'other_task') return reply(id, complete({ ...detailed(task), taskId: 'task-of-another' }))
  if (task.how === 'dying') process.exit(3)
  if (task.how === 'silent') return
  if (task.how === 'patient') setTimeout(announceEnd, 200, task)
  if (task.looks >= 2 && task.status === 'working' && !ENDLESS.has(task.how)) end(task)
  else if (task.status === 'working') task.statusMessage = `looked at ${task.looks} times`
  reply(id, detailed(task))
}

function announceEnd(task) {
  end(task)
  send({ method: `notifications/tasks${isModern ? '' : '/status'}`, params: view(task) })
}

/** As in 2025-11-25: waits for the end, and asks its questions meanwhile. */
function result(id, task) {
  const answer = () => reply(id, { ...resultOf(task), _meta: related(task) })
  if (task.status === 'completed' || task.status === 'failed') return answer()
  waiting.set(task.taskId, [...(waiting.get(task.taskId) ?? []), answer])
  if (task.how !== 'asking') return
  const { method, params } = question()
  send({ id: `question ${task.taskId}`, method, params: { ...params, _meta: related(task) } })
}

const related = ({ taskId }) => ({ 'io.modelcontextprotocol/related-task': { taskId } })

function update(id, task, { inputResponses }) {
  const { action, content } = inputResponses.name ?? {}
  if (task.how === 'asking') {
    task.name = action === 'accept' ? content.name : action
    end(task)
  }
  reply(id, complete({}))
}

function cancel(id, task) {
  if (task.how === 'deaf') return
  end(task, 'cancelled')
  reply(id, isModern ? complete({}) : view(task))
}

const BY_TASK = { 'tasks/get': get, 'tasks/result': result, 'tasks/update': update, 'tasks/cancel': cancel }
const cached = { ttlMs: 0, cacheScope: 'private' }
const tools = ['required', 'optional', 'forbidden'].map(taskSupport => ({
  name: taskSupport,
  inputSchema: { type: 'object' },
  ...(!isModern && { execution: { taskSupport } }),
}))

function handle({ id, method, params = {}, result: answer }) {
  if (method) appendFileSync(journal, `${method}${params.task ? ' as a task' : ''}\n`)
  const capabilities = isModern
    ? { tools: {}, extensions: { [EXTENSION]: {} } }
    : { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
  if (method === 'initialize')
    return isModern
      ? refuse(id, 'Unsupported protocol version', -32022)
      : reply(id, {
          protocolVersion: '2025-11-25',
          capabilities,
          serverInfo: { name: 'tasks', version: '1' },
        })
  if (method === 'server/discover')
    return reply(id, complete({ supportedVersions: ['2026-07-28'], capabilities, ...cached }))
  if (method === 'tools/list') return reply(id, complete({ tools, ...cached }))
  if (method === 'tools/call') return call(id, params)
  const byTask = BY_TASK[method]
  const task = tasks.get(params.taskId)
  if (byTask) return task ? byTask(id, task, params) : refuse(id, 'Task not found')
  if (id !== undefined && answer) return answered(id, answer)
  if (id !== undefined && method) refuse(id, 'Method not found', -32601)
}

function call(id, params) {
  const { how } = params.arguments ?? {}
  if (how === 'direct' || (!isModern && !params.task)) return reply(id, complete(text('at once')))
  create(id, params.arguments)
}

function answered(id, { action, content }) {
  const task = tasks.get(String(id).replace('question ', ''))
  task.name = action === 'accept' ? content.name : action
  end(task)
}

createInterface({ input: process.stdin }).on('line', line => handle(JSON.parse(line)))
