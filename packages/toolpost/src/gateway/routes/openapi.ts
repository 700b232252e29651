import type { Hono } from 'hono'
import { toolpostVersion } from '../../runtime/version.ts'
import type { Tool } from '../../tools/tool.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { json } from '../http/answers.ts'
import { inputSchemaOf, ToolTexts } from '../tool-info.ts'
import { DETAILS } from './openapi/details.ts'
import { ANYTHING, CALL_ERRORS, ERRORS, jsonContent, ref, responses } from './openapi/forms.ts'
import { SCHEMAS } from './openapi/schemas.ts'

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
