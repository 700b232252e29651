import type { Hono } from 'hono'
import { FAILURE_CODES } from '../../call/failure-codes.ts'
import { EXPORT_FORMATS } from '../../history/export-text.ts'
import { OUTCOMES, QUERY_NAMES } from '../../history/filter.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../history/limits.ts'
import { RUN_STATES } from '../../project/durable.ts'
import { toolpostVersion } from '../../runtime/version.ts'
import type { Tool } from '../../tools/tool.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { json } from '../http/answers.ts'
import { DEFAULT_RUNS, MAX_KEY_LENGTH, MAX_RUNS } from '../limits.ts'
import { inputSchemaOf, ToolTexts } from '../tool-info.ts'

/** The API, and every tool as an operation of its own, so that programs that read OpenAPI can call them. */
export function addOpenApiRoute(app: Hono, { executor: { tools }, clients }: GatewayContext): void {
  const own = ownApi()
  const texts = new ToolTexts(tool => toolOperation(tool, tools.originOf(tool)?.server ?? 'local'))
  app.get('/api/openapi.json', c => {
    const offered = clients.of(c.req.raw).tools()
    const operations = offered.map(tool => [callPath(tool), texts.of(tool)] as const)
    return json({ ...own, paths: { ...own.paths, ...Object.fromEntries(operations) } })
  })
}

function callPath({ name }: Tool): string {
  return `/api/tools/${encodeURIComponent(name.toWellFormed())}/call`
}

function toolOperation(tool: Tool, source: string): object {
  const { name, title = name, description = '' } = tool
  const body = { required: true, content: jsonContent(inputSchemaOf(tool)) }
  const operation = { operationId: name, summary: title, description, tags: [source], requestBody: body }
  return { post: { ...operation, responses: responses(ref('ToolResult'), [401, 403, 429, ...CALL_ERRORS]) } }
}

/* Short forms of JSON Schema: `record('a b?:number')` has a string `a`, and may have a number `b`. */

function record(fields: string, more: Record<string, object> = {}): object {
  const entries = fields.split(' ').map(field => {
    const [, name = '', optional, type = 'string'] = /^(\w+)(\?)?(?::(\w+))?$/.exec(field) ?? []
    return { name, isRequired: optional === undefined, schema: more[name] ?? { type } }
  })
  return {
    type: 'object',
    required: entries.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    properties: Object.fromEntries(entries.map(({ name, schema }) => [name, schema])),
  }
}

function ref(name: string): object {
  return { $ref: `#/components/schemas/${name}` }
}

function listOf(name: string, items: object): object {
  return record(name, { [name]: { type: 'array', items } })
}

function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}

const ERRORS: Record<number, string> = {
  400: 'Invalid request',
  401: 'The token is missing or wrong',
  403: 'Host or Origin not allowed',
  404: 'Not found',
  409: 'It is being worked on already, has ended, or there is one of that name',
  410: 'The result has expired',
  413: 'The body is too large',
  415: 'The content type is not audio/wav',
  422: 'No speech recognized, a mistake in the configuration, a server that does not work, or an Idempotency-Key of another call',
  429: 'Over a limit: the result says which, and Retry-After when to try again',
  502: 'The server, or where one logs in at it, does not answer as it should',
  503: 'Busy or shutting down: try again later',
}
const CALL_ERRORS = [400, 404, 413, 503]
const EVENTS = { 'text/event-stream': { schema: { type: 'string' } } }
const ANYTHING = { type: 'object' }

function responses(
  schema: object,
  errors: readonly number[],
  content: object = jsonContent(schema),
): Record<number, object> {
  const failures = errors.map(status => [status, { $ref: `#/components/responses/${status}` }])
  return { 200: { description: 'The answer', content }, ...Object.fromEntries(failures) }
}

interface Details {
  answer?: object
  /** Beside 401 and 403. */
  errors?: readonly number[]
  parameters?: object[]
  requestBody?: object
  content?: object
  /** It may be answered with a run. */
  accepted?: boolean
  /** It is answered with nothing. */
  isEmpty?: boolean
}

const ACCEPTED = {
  description: 'The run, which goes on',
  headers: { location: { schema: { type: 'string' } } },
  content: jsonContent(ref('Run')),
}

const OPERATIONS = `
  get  /api/tools                  listTools     All tools
  post /api/tools/{name}/call      callTool      Calls a tool: its arguments in, its result out
  get  /api/servers                listServers   The MCP servers and their state
  post /api/servers                addServer     Tries a server, and adds it to the configuration if it works
  post /api/servers/{name}/restart restartServer Ends a server and starts it again
  post /api/servers/{name}/stop    stopServer    Ends a server until it is started
  post /api/servers/{name}/start   startServer   Starts a server that was stopped
  get  /api/servers/{name}/offers  listOffers    What a server has beside tools
  post /api/resources/read         readResource  Reads a resource of a server
  post /api/prompts/get            getPrompt     A prompt of a server, with its arguments filled in
  post /api/servers/{name}/login logIn Begins a login at a server; url is the page that the person has to go to
  post /api/reload                 reload        Reads the configuration again; what changed, by server
  get  /api/approvals              listApprovals Calls that wait for a person
  post /api/approvals/{id}         decide        Approves or denies a call that waits
  get  /api/questions              listQuestions What tools ask those who called them
  post /api/questions/{id}         answer        Answers a question of a tool
  get  /api/model                  getModel      Which client answers the chat, and why
  get  /api/models                 listModels    The models to choose from
  get  /api/conversations          listConversations What was said in the chat, the newest first
  get  /api/conversations/{id}     getConversation One conversation, turn by turn
  patch /api/conversations/{id}    renameConversation Gives a conversation a name
  delete /api/conversations/{id}   removeConversation Forgets a conversation
  post /api/chat                   chat          Asks in words; events: token, call, end
  post /api/transcriptions         transcribe    Turns speech into text: a WAV file in, its words out
  get  /api/calls                  listCalls     The last calls, oldest first; with parameters, a page of those that have ended, newest first
  get  /api/calls/export           exportCalls   All calls that fit, newest first
  get  /api/calls/{serial}         getCall       One call
  delete /api/calls/{serial}       cancelCall    Ends a call that is under way
  get  /api/results/{id}           getResult     The whole of a long result, as it is
  get  /api/runs                   listRuns      Durable runs, newest first
  get  /api/runs/{id}              getRun        One run: state, attempts, worker, steps, and its result once it has ended
  delete /api/runs/{id}            cancelRun     Ends a run
  post /api/runs/{id}/again        runAgain      Begins the call of a run once more; Location is the new run
  get  /api/events                 watch         What happens; events: call, progress, run, servers, tools, approvals, questions, voice
  get  /healthz                    health        Whether it is alive, and what there is
  get  /readyz                     ready         Whether calls can be sent here: ready, or starting or draining with 503`

const TEXT = { type: 'string' }
const QUERY_SCHEMAS: Partial<Record<(typeof QUERY_NAMES)[number], object>> = {
  outcome: { enum: OUTCOMES },
  limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  since: { ...TEXT, description: '1h, 2d, a date, or milliseconds since 1970' },
  until: { ...TEXT, description: '1h, 2d, a date, or milliseconds since 1970' },
  q: { ...TEXT, description: 'Words in tool, arguments, result or error' },
}
const FORMAT = { name: 'format', in: 'query', schema: { enum: EXPORT_FORMATS, default: 'jsonl' } }
const NAME = { name: 'name', in: 'path', required: true, schema: { type: 'string' } }
const ID = { ...NAME, name: 'id' }
const DECISION = { required: true, content: jsonContent(record('decision remember?')) }
const ANSWER = { required: true, content: jsonContent(record('action content?', { content: ANYTHING })) }
const PREFER = {
  name: 'prefer',
  in: 'header',
  schema: { const: 'questions' },
  description: 'Tools may ask; without it, every question is declined',
}
const PREFER_CALL = {
  ...PREFER,
  schema: TEXT,
  description:
    'questions: tools may ask. respond-async: 202 with the run and its Location; wait=10: not before 10 s',
}
const KEY = {
  name: 'idempotency-key',
  in: 'header',
  schema: { ...TEXT, maxLength: MAX_KEY_LENGTH },
  description: 'The call is durable, and the same key with the same call is the same run',
}
const RUN_FILTER = [
  { name: 'state', in: 'query', schema: { enum: RUN_STATES } },
  { name: 'tool', in: 'query', schema: TEXT },
  {
    name: 'before',
    in: 'query',
    schema: TEXT,
    description: 'The id of a run: only those that were accepted before it',
  },
  {
    name: 'limit',
    in: 'query',
    schema: { type: 'integer', minimum: 1, maximum: MAX_RUNS, default: DEFAULT_RUNS },
  },
]
const TIMEOUT = { name: 'x-timeout-ms', in: 'header', schema: { type: 'number' } }
const SERIAL = { ...NAME, name: 'serial', schema: { type: 'integer' } }
const FILTER = QUERY_NAMES.map(name => ({ name, in: 'query', schema: QUERY_SCHEMAS[name] ?? TEXT }))
const QUESTION = {
  required: true,
  content: jsonContent(record('message conversation? turn?:integer model?')),
}
const RECORDING = { required: true, content: { 'audio/wav': {}, 'application/octet-stream': {} } }

const NAMES = { type: 'array', items: TEXT }
const RELOADED = record('added removed changed unchanged', {
  added: NAMES,
  removed: NAMES,
  changed: NAMES,
  unchanged: NAMES,
})

const DETAILS: Record<string, Details> = {
  listTools: { answer: listOf('tools', ref('Tool')), parameters: [{ name: 'q', in: 'query', schema: TEXT }] },
  callTool: {
    answer: ref('ToolResult'),
    errors: [...CALL_ERRORS, 422, 429],
    parameters: [NAME, TIMEOUT, PREFER_CALL, KEY],
    accepted: true,
    requestBody: { content: jsonContent(ANYTHING) },
  },
  listServers: { answer: listOf('servers', ANYTHING) },
  addServer: {
    answer: record('file tools', { tools: NAMES }),
    errors: [400, 404, 409, 413, 422, 503],
    requestBody: {
      required: true,
      content: jsonContent(record('name entry:object check?:boolean replace?:boolean')),
    },
  },
  restartServer: { errors: [404, 503], parameters: [NAME] },
  stopServer: { errors: [404, 503], parameters: [NAME] },
  startServer: { errors: [404, 503], parameters: [NAME] },
  listOffers: { parameters: [NAME] },
  readResource: {
    errors: [400, 404, 502],
    requestBody: { required: true, content: jsonContent(record('uri')) },
  },
  getPrompt: {
    errors: [400, 404, 502],
    requestBody: {
      required: true,
      content: jsonContent(record('name arguments?', { arguments: ANYTHING })),
    },
  },
  listModels: { answer: listOf('models', record('name why')) },
  listConversations: { answer: listOf('conversations', ref('Conversation')) },
  getConversation: { errors: [404], parameters: [ID] },
  renameConversation: {
    answer: ref('Conversation'),
    errors: [400, 404, 413],
    parameters: [ID],
    requestBody: { required: true, content: jsonContent(record('name')) },
  },
  removeConversation: { errors: [404, 409], parameters: [ID] },
  cancelCall: { errors: [404], parameters: [SERIAL] },
  logIn: { errors: [404, 502], parameters: [NAME] },
  reload: { answer: RELOADED, errors: [404, 422, 503] },
  listApprovals: { answer: listOf('approvals', ANYTHING) },
  decide: { errors: [400, 404], parameters: [ID], requestBody: DECISION },
  listQuestions: { answer: listOf('questions', ANYTHING) },
  answer: { errors: [400, 404], parameters: [ID], requestBody: ANSWER },
  getModel: { answer: ref('Model') },
  chat: { errors: [...CALL_ERRORS, 409], parameters: [PREFER], requestBody: QUESTION, content: EVENTS },
  transcribe: { answer: ref('Transcription'), errors: [...CALL_ERRORS, 415, 422], requestBody: RECORDING },
  listCalls: {
    answer: record('calls next?', { calls: { type: 'array', items: ref('Call') } }),
    errors: [400, 503],
    parameters: FILTER,
  },
  exportCalls: {
    errors: [400, 503],
    parameters: [FORMAT, ...FILTER.filter(({ name }) => name !== 'limit' && name !== 'cursor')],
    content: { 'application/jsonl': { schema: ref('Call') }, 'text/csv': { schema: TEXT } },
  },
  getCall: { answer: ref('Call'), errors: [404, 503], parameters: [SERIAL] },
  getResult: { errors: [404, 410], parameters: [ID], content: { '*/*': {} } },
  listRuns: { answer: listOf('runs', ref('Run')), errors: [400, 404, 503], parameters: RUN_FILTER },
  getRun: { answer: ref('Run'), errors: [404, 503], parameters: [ID] },
  cancelRun: { errors: [404, 409, 503], parameters: [ID], isEmpty: true },
  runAgain: { answer: ref('ToolResult'), errors: [404, 429, 503], parameters: [ID], accepted: true },
  watch: { errors: [503], content: EVENTS },
}

/** What is the same whichever tools there are. */
function ownApi() {
  const rows = OPERATIONS.trim().split('\n')
  const description = 'Tools over HTTP. A tool that failed is answered with 200 and `success: false`.'
  const content = jsonContent(ref('Error'))
  const failures = Object.entries(ERRORS).map(([status, description]) => [status, { description, content }])
  const token = { type: 'http', scheme: 'bearer', description: 'If a token was set' }
  return {
    openapi: '3.1.0',
    info: { title: 'Toolpost', version: toolpostVersion(), description },
    paths: pathsOf(rows.map(ownOperation)),
    components: { schemas: SCHEMAS, responses: Object.fromEntries(failures), securitySchemes: { token } },
    security: [{}, { token: [] }],
  }
}

/** A path may have several methods. */
function pathsOf(operations: readonly [string, object][]): Record<string, object> {
  const paths: Record<string, object> = {}
  for (const [path, operation] of operations) paths[path] = { ...paths[path], ...operation }
  return paths
}

function ownOperation(row: string): [string, object] {
  const [method = '', path = '', operationId = '', ...summary] = row.trim().split(/ +/)
  const {
    answer = ANYTHING,
    errors = [],
    content,
    accepted,
    isEmpty,
    ...request
  } = DETAILS[operationId] ?? {}
  const { 200: answered, ...failed } = responses(answer, [401, 403, ...errors], content)
  const all = {
    ...request,
    responses: {
      ...(isEmpty || method === 'delete' ? { 204: { description: 'Done' } } : { 200: answered }),
      ...(accepted && { 202: ACCEPTED }),
      ...failed,
    },
  }
  return [path, { [method]: { operationId, summary: summary.join(' '), ...all } }]
}

const RESULT =
  'success:boolean result? text? error? code? tool_name execution_time_ms:number waited_ms?:number retry_after_ms?:number run_id? diagnosis?:object handle?'
const CALL =
  'serial:integer id? tool source origin caller? args? startedAt:number durationMs?:number waitedMs?:number slow:boolean progress?:object stages?:object notes?:object result?'
const RUN =
  'id tool args? state attempts:integer created_at started_at? ended_at? pool? worker? caller? origin? key? steps:array progress?:object result?'
const TOOL =
  'name title? description source signature schema:object outputSchema?:object readOnly?:boolean idempotent?:boolean destructive?:boolean timeoutMs?:number sentences?'

/** api-types.ts, as JSON Schema. */
const SCHEMAS = {
  Error: record('error'),
  Tool: record(TOOL, { sentences: NAMES }),
  ToolResult: record(RESULT, { result: {}, code: { enum: FAILURE_CODES } }),
  Call: record(CALL, { args: {}, approval: {}, result: ref('ToolResult') }),
  Run: record(RUN, {
    args: {},
    state: { enum: RUN_STATES },
    steps: { type: 'array', items: record('name at worker?') },
    result: ref('ToolResult'),
  }),
  Model: record('name why voice:boolean'),
  Conversation: record('id name createdAt:number updatedAt:number turns:integer'),
  Transcription: record('text durationMs:number'),
}
