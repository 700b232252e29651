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

/** The description of the API itself. */
interface ApiDocument {
  info: object
  paths: Record<string, object> & Record<typeof CALL_PATH, { post: { responses: object } }>
}

const CALL_PATH = '/api/tools/{name}/call'
let ownApi: ApiDocument | undefined

/** The API as an OpenAPI document, with every tool as an operation, so that OpenAPI clients can call them. */
export function openApi(offered: readonly Tool[], tools: ToolManager): object {
  ownApi ??= JSON.parse(readFileSync(join(packageRoot(), 'data', 'openapi.json'), 'utf8')) as ApiDocument
  const paths: Record<string, object> = { ...ownApi.paths }
  const { responses } = ownApi.paths[CALL_PATH].post
  for (const tool of offered) {
    const { name, schema, description, source, title = name } = toolInfo(tool, tools)
    paths[CALL_PATH.replace('{name}', encodeURIComponent(name.toWellFormed()))] = {
      post: {
        operationId: name,
        summary: title,
        description,
        tags: [source],
        requestBody: { required: true, content: { 'application/json': { schema } } },
        responses,
      },
    }
  }
  return { ...ownApi, info: { ...ownApi.info, version: toolpostVersion() }, paths }
}
