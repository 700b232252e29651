/** A block of content as MCP has it: `{ type: 'text', text }`, `{ type: 'image', data, mimeType }` … */
export interface ContentBlock {
  readonly type: string
  readonly [field: string]: unknown
}

/** What a tool returns that has a value for programs and, beside it, content for models and MCP clients. */
export class ToolOutput<Value = unknown> {
  readonly value: Value
  readonly content: readonly ContentBlock[]

  constructor(value: Value, content: readonly ContentBlock[]) {
    this.value = value
    this.content = content
  }
}
