import type { Hono } from 'hono'
import { FAILURE_CODES } from '../../call/failure-codes.ts'
import { toolpostVersion } from '../../runtime/version.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { json } from '../http/answers.ts'
import { type ToolInfo, toolInfo } from '../tool-info.ts'

export function addOpenApiRoute(app: Hono, { executor: { tools } }: GatewayContext): void {
  app.get('/api/openapi.json', () => json(describeApi(tools.getTools().map(tool => toolInfo(tool, tools)))))
}

/** The API, and every tool as an operation of its own, so that programs that read OpenAPI can call them. */
function describeApi(tools: readonly ToolInfo[]): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Toolpost',
      version: toolpostVersion(),
      description: 'Tools over HTTP. A tool that failed is answered with 200 and `success: false`.',
    },
    paths: { ...OWN_PATHS, ...Object.fromEntries(tools.map(toolPath)) },
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Only where a token was set' },
      },
    },
    security: [{}, { token: [] }],
  }
}

function toolPath({ name, title, description, schema, source }: ToolInfo): [string, object] {
  const post = {
    operationId: name,
    summary: title ?? name,
    description,
    tags: [source],
    requestBody: { required: true, content: jsonContent(schema) },
    responses: { 200: answer('The result', ref('ToolResult')), ...ERRORS },
  }
  return [`/api/tools/${encodeURIComponent(name.toWellFormed())}/call`, { post }]
}

function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}

function answer(description: string, schema: object): object {
  return { description, content: jsonContent(schema) }
}

function list(name: string, items: object): object {
  return { type: 'object', required: [name], properties: { [name]: { type: 'array', items } } }
}

const ERRORS = {
  400: answer('The request makes no sense', ref('Error')),
  401: answer('The token is missing or wrong', ref('Error')),
  403: answer('A foreign Host or Origin', ref('Error')),
  404: answer('There is no such thing', ref('Error')),
  413: answer('The body is too large', ref('Error')),
}

function get(operationId: string, summary: string, schema: object): object {
  return { get: { operationId, summary, responses: { 200: answer(summary, schema) } } }
}

function events(operationId: string, summary: string): object {
  const content = { 'text/event-stream': { schema: { type: 'string' } } }
  return { operationId, summary, responses: { 200: { description: summary, content } } }
}

const NAME = { name: 'name', in: 'path', required: true, schema: { type: 'string' } }
const anything = { type: 'object' }

const OWN_PATHS = {
  '/api/tools': get('listTools', 'All tools', list('tools', ref('Tool'))),
  '/api/tools/{name}/call': {
    post: {
      operationId: 'callTool',
      summary: 'Calls a tool: its arguments in, its result out',
      parameters: [NAME, { name: 'x-timeout-ms', in: 'header', schema: { type: 'number' } }],
      requestBody: { content: jsonContent(anything) },
      responses: { 200: answer('The result', ref('ToolResult')), ...ERRORS },
    },
  },
  '/api/servers': get('listServers', 'The MCP servers and how they are', list('servers', anything)),
  '/api/servers/{name}/restart': {
    post: {
      operationId: 'restartServer',
      summary: 'Ends a server and starts it again',
      parameters: [NAME],
      responses: { 200: answer('The server', anything), 404: ERRORS[404] },
    },
  },
  '/api/model': get('getModel', 'Which client answers the chat, and why', {
    type: 'object',
    properties: {
      name: { type: 'string' },
      why: { type: 'string' },
      voice: { type: 'boolean', description: 'Whether speech can be turned into text' },
    },
  }),
  '/api/chat': {
    post: {
      ...events('chat', 'Asks in words; events `token`, `call` and `end`'),
      requestBody: {
        required: true,
        content: jsonContent({
          type: 'object',
          required: ['message'],
          properties: { message: { type: 'string' }, conversation: { type: 'string' } },
        }),
      },
    },
  },
  '/api/transcriptions': {
    post: {
      operationId: 'transcribe',
      summary: 'Turns speech into text: a WAV file in, its words out',
      requestBody: { required: true, content: { 'audio/wav': {}, 'application/octet-stream': {} } },
      responses: {
        200: answer('The words, and how long it took', {
          type: 'object',
          required: ['text', 'durationMs'],
          properties: { text: { type: 'string' }, durationMs: { type: 'number' } },
        }),
        ...ERRORS,
        415: answer('The body is no WAV file by its content type', ref('Error')),
        422: answer('There is nothing to understand in it', ref('Error')),
        503: answer('Toolpost is shutting down', ref('Error')),
      },
    },
  },
  '/api/calls': get('listCalls', 'The last calls, oldest first', list('calls', ref('Call'))),
  '/api/events': { get: events('watch', 'What happens; events `call`, `servers`, `tools` and `voice`') },
  '/healthz': get('health', 'Whether it works', anything),
}

const SCHEMAS = {
  Error: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } },
  Tool: {
    type: 'object',
    required: ['name', 'description', 'source', 'signature', 'schema'],
    properties: {
      name: { type: 'string' },
      title: { type: 'string' },
      description: { type: 'string' },
      source: { type: 'string', description: '`local`, or the name of its server' },
      signature: { type: 'string' },
      schema: { type: 'object', description: 'JSON Schema of the arguments' },
      outputSchema: { type: 'object' },
      readOnly: { type: 'boolean' },
      idempotent: { type: 'boolean' },
      destructive: { type: 'boolean' },
      timeoutMs: { type: 'number' },
    },
  },
  ToolResult: {
    type: 'object',
    required: ['success', 'tool_name', 'execution_time_ms'],
    properties: {
      success: { type: 'boolean' },
      result: { description: 'What the tool answered' },
      text: { type: 'string' },
      error: { type: 'string' },
      code: { enum: FAILURE_CODES },
      tool_name: { type: 'string' },
      execution_time_ms: { type: 'number' },
      diagnosis: { type: 'object' },
    },
  },
  Call: {
    type: 'object',
    required: ['serial', 'tool', 'source', 'origin', 'startedAt', 'slow'],
    properties: {
      serial: { type: 'integer' },
      id: { type: 'string' },
      tool: { type: 'string' },
      source: { type: 'string' },
      origin: { type: 'string' },
      args: {},
      startedAt: { type: 'number', description: 'Milliseconds since 1970' },
      durationMs: { type: 'number' },
      slow: { type: 'boolean' },
      result: ref('ToolResult'),
    },
  },
}
