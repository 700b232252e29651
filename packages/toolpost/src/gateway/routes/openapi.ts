import type { Hono } from 'hono'
import { toolpostVersion } from '../../runtime/version.ts'
import type { Tool } from '../../tools/tool.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { json } from '../http/answers.ts'
import { inputSchemaOf, ToolTexts } from '../tool-info.ts'
import { DETAILS } from './openapi/details.ts'
import { ANYTHING, CALL_ERRORS, ERRORS, jsonContent, ref, responses } from './openapi/forms.ts'
import { SCHEMAS } from './openapi/schemas.ts'

/** The API, with every tool as an operation, so that OpenAPI clients can call them. */
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
const ACCEPTED = {
  description: 'The run, still in progress',
  headers: { location: { schema: { type: 'string' } } },
  content: jsonContent(ref('Run')),
}

const OPERATIONS = `
  get  /api/tools                  listTools     All tools
  post /api/tools/{name}/call      callTool      Calls a tool: arguments in, result out
  get  /api/servers                listServers   The MCP servers and their state
  post /api/servers                addServer     Tries a server, and adds it to the configuration if it works
  post /api/servers/{name}/restart restartServer Restarts a server
  post /api/servers/{name}/stop    stopServer    Stops a server until it is started again
  post /api/servers/{name}/start   startServer   Starts a server that was stopped
  get  /api/servers/{name}/offers  listOffers    The resources and prompts of a server
  post /api/resources/read         readResource  Reads a resource
  post /api/prompts/get            getPrompt     A prompt with its arguments filled in
  post /api/servers/{name}/login logIn Starts a login to a server; url is the page for the user to open
  post /api/reload                 reload        Reloads the configuration; the answer lists what changed, by server
  get  /api/approvals              listApprovals Calls waiting for approval
  post /api/approvals/{id}         decide        Approves or denies a waiting call
  get  /api/questions              listQuestions Open questions from tools to their callers
  post /api/questions/{id}         answer        Answers a tool's question
  get  /api/model                  getModel      Which client answers the chat, and why
  get  /api/models                 listModels    The models to choose from
  get  /api/conversations          listConversations Chat conversations, newest first
  get  /api/conversations/{id}     getConversation One conversation, turn by turn
  patch /api/conversations/{id}    renameConversation Renames a conversation
  delete /api/conversations/{id}   removeConversation Deletes a conversation
  post /api/chat                   chat          Asks the model; events: token, call, status, end
  post /api/transcriptions         transcribe    Turns speech into text: WAV in, text out
  get  /api/calls                  listCalls     The last calls, oldest first; with parameters, a page of finished calls, newest first
  get  /api/calls/export           exportCalls   All matching calls, newest first
  get  /api/calls/{serial}         getCall       One call
  delete /api/calls/{serial}       cancelCall    Cancels a running call
  get  /api/results/{id}           getResult     A long result, in full
  get  /api/runs                   listRuns      Durable runs, newest first
  get  /api/runs/{id}              getRun        One run: state, attempts, worker, steps, and its result once finished
  delete /api/runs/{id}            cancelRun     Cancels a run
  post /api/runs/{id}/again        runAgain      Makes a run's call again; Location is the new run
  get  /api/events                 watch         A stream of events: call, progress, run, servers, tools, approvals, questions, voice
  get  /healthz                    health        Whether it is alive, with its tools and servers
  get  /readyz                     ready         Whether calls can be sent here: ready, or starting or draining with 503`

/** The part that does not depend on the tools. */
function ownApi() {
  const rows = OPERATIONS.trim().split('\n')
  const description = 'Tools over HTTP. A tool that failed is answered with 200 and `success: false`.'
  const content = jsonContent(ref('Error'))
  const failures = Object.entries(ERRORS).map(([status, description]) => [status, { description, content }])
  const token = {
    type: 'http',
    scheme: 'bearer',
    description: "The owner's token (`toolpost token`), or a client's",
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Toolpost', version: toolpostVersion(), description },
    paths: pathsOf(rows.map(ownOperation)),
    components: { schemas: SCHEMAS, responses: Object.fromEntries(failures), securitySchemes: { token } },
    security: [{ token: [] }],
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
