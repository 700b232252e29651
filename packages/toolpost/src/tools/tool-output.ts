/** An MCP content block: `{ type: 'text', text }`, `{ type: 'image', data, mimeType }` … */
export interface ContentBlock {
  readonly type: string
  readonly [field: string]: unknown
}

/** The content blocks that MCP defines. */
export const BLOCK_TYPES = new Set<unknown>(['text', 'image', 'audio', 'resource', 'resource_link'])

type Fields = Readonly<Record<string, unknown>> | undefined

/** Returned by a tool that has a value for programs and separate content for models and MCP clients. */
export class ToolOutput<Value = unknown> {
  readonly value: Value
  readonly content: readonly ContentBlock[]
  /** MCP's `_meta`, for clients that know what to do with it. */
  readonly meta: Fields
  /** Other fields of an MCP result. */
  readonly extra: Fields

  constructor(value: Value, content: readonly ContentBlock[], meta?: Fields, extra?: Fields) {
    this.value = value
    this.content = content
    this.meta = meta
    this.extra = extra
  }
}
