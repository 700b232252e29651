/** What a caller asks for. `args` is whatever arrived: it is checked, never trusted. */
export interface ToolCall {
  /** The caller's own id, returned as `tool_call_id`. */
  id?: string | undefined
  name: string
  args?: unknown
}
