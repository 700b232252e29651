import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Approval, CallRecord, OpenQuestion, ServerStatus, ToolInfo, ToolResult } from 'toolpost/gateway'
import { answerChat } from './fake/chat.ts'
import { EventStream } from './fake/event-stream.ts'
import { exampleCalls } from './fake/example-calls.ts'
import { exampleServers } from './fake/example-servers.ts'
import { exampleTools } from './fake/example-tools.ts'
import { bodyOf, JSON_TYPE, sendJson, sendPage } from './fake/http.ts'
import { olderPage } from './fake/older-calls.ts'
import { runTool } from './fake/run-tool.ts'
import { FakeRuns } from './fake/runs.ts'
import { answerTranscription, type Hearing } from './fake/transcription.ts'

interface Options {
  /** The folder of the built page. */
  page: string
  token?: string
  voice?: boolean
}

/** A gateway as the page sees it: the HTTP API with tools, servers and calls that are made up. */
export class FakeGateway {
  tools: ToolInfo[] = exampleTools()
  servers: ServerStatus[] = exampleServers()
  calls: CallRecord[] = exampleCalls()
  approvals: Approval[] = []
  /** What was decided, by the id of the approval. */
  readonly decisions: Record<string, unknown> = {}
  /** What tools ask, and what was answered, by the id of the question. */
  asked: OpenQuestion[] = []
  readonly answered: Record<string, unknown> = {}
  /** Calls of its history, newest first, and what was asked of it. */
  older: CallRecord[] = []
  readonly questions: string[] = []
  /** Answers to be given as they are instead of the usual ones, by path. */
  readonly answers = new Map<string, { status?: number; text: string }>()
  /** Requests that were aborted before they were answered, by path. */
  readonly aborted: string[] = []
  /** What it takes every recording for … */
  hears: Hearing = { text: 'turn on the kitchen light' }
  /** … and the recordings themselves. */
  readonly recordings: Buffer[] = []
  hasVoice: boolean
  /** What there is to choose from. */
  models = [{ name: 'offline', why: 'Neither Ollama nor a key was found' }]
  readonly runs = new FakeRuns(this)
  readonly #options: Options
  readonly #waiting = new Map<string, () => void>()
  readonly #running = new Map<string, AbortController>()
  readonly #events = new EventStream()
  #lastQuestion = 0
  #server: Server | undefined
  #port = 0

  constructor(options: Options) {
    this.#options = options
    this.hasVoice = options.voice ?? false
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Listens again on the same port after `stop`. */
  async start(): Promise<this> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch(error => {
        response.writeHead(500).end(String(error))
      })
    })
    await new Promise<void>(resolve => server.listen(this.#port, '127.0.0.1', resolve))
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
    return this
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    this.#events.forgetListeners()
    await new Promise<void>(resolve => {
      server?.close(() => resolve())
      server?.closeAllConnections()
      if (!server) resolve()
    })
  }

  send(event: string, data: unknown): void {
    this.#events.send(event, data)
  }

  /** To everybody who listens now, as it is. */
  sendRaw(text: string): void {
    this.#events.sendRaw(text)
  }

  setServer(name: string, change: Partial<ServerStatus>): ServerStatus {
    this.servers = this.servers.map(server => (server.name === name ? { ...server, ...change } : server))
    this.send('servers', { servers: this.servers })
    return this.servers.find(server => server.name === name) as ServerStatus
  }

  /** A call that waits for approval; gives its id. */
  ask(tool: string, args: unknown, more: Partial<Approval> = {}): string {
    const id = `approval-${tool}-${this.approvals.length + 1}`
    const askedAt = Date.now()
    const times = { askedAt, expiresAt: askedAt + 300_000, state: 'waiting' } as const
    this.#setApprovals([...this.approvals, { id, tool, args, origin: 'mcp', ...times, ...more }])
    return id
  }

  /** A question of a tool; gives its id. */
  askPerson(question: Partial<OpenQuestion>): string {
    const id = `question-${++this.#lastQuestion}`
    const askedAt = Date.now()
    const asked = { id, message: 'Tell me', askedAt, expiresAt: askedAt + 300_000, ...question }
    this.#setAsked([...this.asked, asked])
    return id
  }

  #setAsked(questions: OpenQuestion[]): void {
    this.asked = questions
    this.send('questions', { questions })
  }

  async #takeAnswer(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer: unknown = JSON.parse(String(await bodyOf(request)))
    const refusal = this.answers.get('questions')
    if (refusal) return void response.writeHead(refusal.status ?? 400, JSON_TYPE).end(refusal.text)
    this.answered[id] = answer
    this.#setAsked(this.asked.filter(one => one.id !== id))
    sendJson(response, {})
  }

  /** Resolves when the approval no longer waits. */
  decided(id: string): Promise<void> {
    return new Promise(resolve => this.#waiting.set(id, resolve))
  }

  /** As if it had expired, or was decided. */
  endApproval(id: string): void {
    this.#setApprovals(this.approvals.filter(one => one.id !== id))
    this.#waiting.get(id)?.()
  }

  #setApprovals(approvals: Approval[]): void {
    this.approvals = approvals
    this.send('approvals', { approvals })
  }

  /** Runs a tool as every caller does: recorded at its start and at its end. */
  async call(
    tool: string,
    args: unknown,
    options: { origin: string; signal: AbortSignal },
  ): Promise<ToolResult> {
    const source = this.tools.find(one => one.name === tool)?.source ?? 'local'
    const serial = String(Number(this.calls.at(-1)?.serial ?? 0) + 1).padStart(3, '0')
    const begun: CallRecord = {
      serial,
      tool,
      source,
      origin: options.origin,
      args,
      startedAt: Date.now(),
      slow: false,
    }
    this.#record(begun)
    const ended = new AbortController()
    this.#running.set(serial, ended)
    const signal = AbortSignal.any([options.signal, ended.signal])
    const result = await runTool({ tool, args, signal, tools: this.tools })
    this.#running.delete(serial)
    const durationMs = result.execution_time_ms
    this.#record({ ...begun, durationMs, slow: durationMs > 1_000, result })
    return result
  }

  #record(record: CallRecord): void {
    this.calls = [...this.calls.filter(call => call.serial !== record.serial), record]
    this.send('call', record)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url)
    if (!pathname.startsWith('/api/')) return sendPage(this.#options.page, pathname, response)
    const { token } = this.#options
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
      return sendJson(response, { error: 'A token is needed' }, 401)
    const answer = this.answers.get(pathname)
    if (answer) return void response.writeHead(answer.status ?? 200, JSON_TYPE).end(answer.text)
    const [, , kind, name = '', action] = pathname.split('/').map(decodeURIComponent)
    const aborted = new AbortController()
    response.on('close', () => {
      if (response.writableFinished) return
      if (kind !== 'events') this.aborted.push(pathname)
      aborted.abort()
    })
    if (kind === 'events') return this.#events.listen(request, response)
    if (kind === 'tools' && action === 'call')
      return this.#callOverHttp(name, request, { response, signal: aborted.signal })
    if (kind === 'approvals' && name) return this.#decide(name, request, response)
    if (kind === 'questions' && name) return this.#takeAnswer(name, request, response)
    if (kind === 'servers' && (action === 'restart' || action === 'start'))
      return this.#restart(name, response)
    if (kind === 'runs') return this.runs.answer({ id: name, action, request, response, searchParams })
    if (kind === 'calls' && request.method === 'DELETE') return this.#cancel(String(name), response)
    if (kind === 'models') return sendJson(response, { models: this.models })
    if (kind === 'conversations') return sendJson(response, { conversations: [] })
    if (kind === 'chat')
      return answerChat({
        gateway: this,
        request: String(await bodyOf(request)),
        response,
        signal: aborted.signal,
      })
    if (kind === 'transcriptions')
      return answerTranscription({ gateway: this, wav: await bodyOf(request), response })
    if (kind === 'calls' && searchParams.size > 0) return sendJson(response, olderPage(this, searchParams))
    const { tools, servers, calls, approvals, asked: questions } = this
    const lists = { tools, servers, calls, approvals, questions }
    if (kind === 'model') return sendJson(response, { ...this.models[0], voice: this.hasVoice })
    if (kind && Object.hasOwn(lists, kind))
      return sendJson(response, { [kind]: lists[kind as keyof typeof lists] })
    sendJson(response, { error: 'Not found' }, 404)
  }

  #cancel(serial: string, response: ServerResponse): void {
    const end = this.#running.get(serial)
    if (!end) return sendJson(response, { error: `Call ${serial} is not running` }, 404)
    end.abort()
    response.writeHead(204).end()
  }

  async #callOverHttp(
    name: string,
    request: IncomingMessage,
    { response, signal }: { response: ServerResponse; signal: AbortSignal },
  ): Promise<void> {
    const result = await this.call(name, JSON.parse(String(await bodyOf(request))), {
      origin: 'http',
      signal,
    })
    if (!response.destroyed)
      sendJson(response, result, 'code' in result && result.code === 'unknown_tool' ? 404 : 200)
  }

  async #decide(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const approval = this.approvals.find(one => one.id === id)
    if (!approval) return sendJson(response, { error: 'No pending approval with this id' }, 404)
    this.decisions[id] = JSON.parse(String(await bodyOf(request)))
    this.endApproval(id)
    sendJson(response, { approval })
  }

  #restart(name: string, response: ServerResponse): void {
    const starting = { state: 'starting', attempts: 1, nextAttemptAt: undefined, error: undefined } as const
    if (!this.servers.some(server => server.name === name))
      return sendJson(response, { error: 'Unknown server' }, 404)
    sendJson(response, { server: this.setServer(name, starting as unknown as Partial<ServerStatus>) })
  }
}
