import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JsonSchema, jsonSchemaOf } from '../schema/json-schema.ts'
import { plainSchema } from '../schema/limits.ts'
import { signatureOf } from '../schema/signature.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { packageRoot, toolpostVersion } from '../util/package-root.ts'
import type { ToolInfo } from './api-types.ts'

const MAX_SENTENCES = 3
const known = new WeakMap<Tool, ToolInfo>()

/** A tool for the API, described once. Leaves out what cannot be read, without affecting other tools. */
export function toolInfo(tool: Tool, tools: ToolManager): ToolInfo {
  const found = known.get(tool)
  if (found) return found
  const raw = tool.raw?.description
  const info: ToolInfo = {
    name: tool.name,
    title: tool.title,
    description: tool.description ?? '',
    readOnly: tool.readOnly,
    idempotent: tool.idempotent,
    destructive: tool.destructive,
    timeoutMs: tool.timeoutMs,
    rawDescription: typeof raw === 'string' ? raw : undefined,
    source: tools.originOf(tool)?.server ?? 'local',
    signature: signatureOf(tool),
    schema: inputSchemaOf(tool),
    outputSchema: plainSchema(() => tool.outputSchema),
    sentences: tool.sentences?.length ? tool.sentences.slice(0, MAX_SENTENCES) : undefined,
  }
  known.set(tool, info)
  return info
}

/** The schema of a tool's arguments; an open one if it cannot be shown. */
export function inputSchemaOf(tool: Tool): JsonSchema {
  const open = { type: 'object', description: 'The schema of this tool cannot be shown' }
  return plainSchema(() => jsonSchemaOf(tool)) ?? open
}

type Document = Record<string, unknown> & { info: object; paths: Record<string, object> }

let ownApi: Document | undefined

/** The API as an OpenAPI document, with every tool as an operation, so that OpenAPI clients can call them. */
export function openApi(offered: readonly Tool[], tools: ToolManager): object {
  ownApi ??= JSON.parse(readFileSync(join(packageRoot(), 'data', 'openapi.json'), 'utf8')) as Document
  const paths = { ...ownApi.paths }
  for (const tool of offered) {
    const { name, schema, description, source, title = name } = toolInfo(tool, tools)
    paths[`/api/tools/${encodeURIComponent(name.toWellFormed())}/call`] = {
      post: {
        operationId: name,
        summary: title,
        description,
        tags: [source],
        requestBody: { required: true, content: { 'application/json': { schema } } },
        responses: TOOL_RESPONSES,
      },
    }
  }
  return { ...ownApi, info: { ...ownApi.info, version: toolpostVersion() }, paths }
}

const RESULT = { $ref: '#/components/schemas/ToolResult' }
const TOOL_RESPONSES = {
  200: { description: 'The answer', content: { 'application/json': { schema: RESULT } } },
  ...Object.fromEntries(
    [400, 401, 403, 404, 413, 429, 503].map(status => [status, { $ref: `#/components/responses/${status}` }]),
  ),
}
