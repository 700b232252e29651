// A hand-written stdio server of protocol 2026-07-28 whose calls become tasks. `how` makes a call go wrong. Every request is
// recorded in the file of the first argument.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , journal] = process.argv
const tasks = new Map()

const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const reply = (id, result) => send({ id, result: { resultType: 'complete', ...result } })
const refuse = (id, message, code = -32602) => send({ id, error: { code, message } })
const text = words => ({ content: [{ type: 'text', text: words }] })

function view({ taskId, status, statusMessage, name }) {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
  const params = { mode: 'form', message: 'Who is it?', requestedSchema }
  return {
    taskId,
    status,
    statusMessage,
    lastUpdatedAt: new Date().toISOString(),
    pollIntervalMs: 1,
    ...(status === 'completed' && { result: text(name ? `done for ${name}` : 'done') }),
    ...(status === 'failed' && { error: { code: -32000, message: 'it broke' } }),
    ...(status === 'input_required' && { inputRequests: { name: { method: 'elicitation/create', params } } }),
  }
}

function create(id, { how = 'plain', taskId = `task-${tasks.size + 1}` } = {}) {
  const status = how === 'asking' ? 'input_required' : 'working'
  const task = { taskId, how, status, statusMessage: 'begun', looks: 0 }
  tasks.set(taskId, task)
  reply(id, { ...view(task), resultType: 'task' })
}

function end(task) {
  task.status = { failing: 'failed', cancelled_there: 'cancelled' }[task.how] ?? 'completed'
  task.statusMessage = task.status === 'cancelled' ? 'somebody else did' : 'ended'
}

const methods = {
  'server/discover': id =>
    reply(id, { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0 }),
  'tools/list': id => {
    const inputSchema = { type: 'object' }
    const reading = { name: 'reading', inputSchema, annotations: { readOnlyHint: true } }
    reply(id, { tools: [{ name: 'required', inputSchema }, reading] })
  },
  'tools/call': (id, params) => create(id, params.arguments),
}

const taskMethods = {
  'tasks/get'(id, task) {
    const { how } = task
    task.looks++
    if (how === 'forgetful' && task.looks > 1) return refuse(id, 'Task not found')
    if (how === 'dying') process.exit(3)
    if (task.looks >= 2 && task.status === 'working' && how !== 'never') end(task)
    else if (task.status === 'working') task.statusMessage = `looked at ${task.looks} times`
    reply(id, { ...view(task), ...(how === 'other_task' && { taskId: 'task-of-another' }) })
  },
  'tasks/update'(id, task, { inputResponses }) {
    const { action, content } = inputResponses.name
    task.name = action === 'accept' ? content.name : action
    end(task)
    reply(id, {})
  },
  'tasks/cancel': id => reply(id, {}),
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params = {} } = JSON.parse(line)
  appendFileSync(journal, `${method}\n`)
  const task = tasks.get(params.taskId)
  if (methods[method]) methods[method](id, params)
  else if (method === 'initialize') refuse(id, 'Unsupported protocol version', -32022)
  else if (taskMethods[method] && task) taskMethods[method](id, task, params)
  else if (id !== undefined) refuse(id, 'Task not found')
})
