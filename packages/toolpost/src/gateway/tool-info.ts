import { type JsonSchema, jsonSchemaOf } from '../schema/json-schema.ts'
import { signatureOf } from '../schema/signature.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'

/** A tool as the API shows it. */
export interface ToolInfo {
  name: string
  title?: string
  description: string
  /** `local`, or the name of its server. */
  source: string
  signature: string
  schema: JsonSchema
  outputSchema?: JsonSchema
  readOnly?: boolean
  idempotent?: boolean
  destructive?: boolean
  timeoutMs?: number
}

export function toolInfo(tool: Tool, tools: ToolManager): ToolInfo {
  const { name, title, description = '', outputSchema, readOnly, idempotent, destructive, timeoutMs } = tool
  const source = tools.originOf(tool)?.server ?? 'local'
  const info: ToolInfo = {
    name,
    description,
    source,
    signature: signatureOf(tool),
    schema: jsonSchemaOf(tool),
  }
  const optional = { title, outputSchema, readOnly, idempotent, destructive, timeoutMs }
  return Object.assign(info, withoutUndefined(optional))
}

function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
