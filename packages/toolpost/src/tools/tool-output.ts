/** An MCP content block: `{ type: 'text', text }`, `{ type: 'image', data, mimeType }` … */
export interface ContentBlock {
  readonly type: string
  readonly [field: string]: unknown
}

/** Returned by a tool that has a value for programs and separate content for models and MCP clients. */
export class ToolOutput<Value = unknown> {
  readonly value: Value
  readonly content: readonly ContentBlock[]
  /** MCP's `_meta`, for clients that know what to do with it. */
  readonly meta: Readonly<Record<string, unknown>> | undefined

  constructor(
    value: Value,
    content: readonly ContentBlock[],
    meta?: Readonly<Record<string, unknown>> | undefined,
  ) {
    this.value = value
    this.content = content
    this.meta = meta
  }
}
