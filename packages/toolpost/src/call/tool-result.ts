import type { FailureCode } from './failure-codes.ts'

interface ResultBase {
  tool_name: string
  /** The whole attempt: finding, fitting and validating included. */
  execution_time_ms: number
  tool_call_id?: string
  /** How long it was held back before the tool was invoked: for a person's decision, for a free place. */
  waited_ms?: number
  /** The durable run that it is the result of. */
  run_id?: string
  /** What was changed in the arguments to make them fit, one sentence each. */
  repairs?: string[]
}

export interface ToolSuccess<Result = unknown> extends ResultBase {
  success: true
  /** What the tool returned, whole. */
  result: Result
  /** What a model reads, if that is not simply `result` as text (content blocks of MCP tools). */
  text?: string
  /** The content blocks that came beside `result`, as they came. */
  content?: readonly { readonly type: string; readonly [field: string]: unknown }[]
  /** `_meta` of an MCP server's result, as it came. */
  meta?: Readonly<Record<string, unknown>>
  /** Where the whole text is kept for a while if it is too long for a model: `result://…`; else the first of `kept`. */
  handle?: string
  /** Content blocks with long binary content, which is kept as well. */
  kept?: readonly KeptPart[]
}

/** Binary content that is kept for a while. */
export interface KeptPart {
  readonly handle: string
  readonly mimeType: string
  readonly bytes: number
  /** Which content block it is. */
  readonly block: number
}

export interface ToolFailure extends ResultBase {
  success: false
  error: string
  code: FailureCode
  diagnosis?: Diagnosis
  /** When to try again, if that is known. */
  retry_after_ms?: number
}

/** The one answer that every call gets. Plain data: it survives JSON. */
export type ToolResult<Result = unknown> = ToolSuccess<Result> | ToolFailure

/** What helps whoever has to put a failed call right. */
export interface Diagnosis {
  /** The arguments that the tool must have: `a (string), x (one of on, off)`. */
  required?: string
  /** How the tool is called: `turn(x: "on" | "off", level?: integer)`. */
  signature?: string
  /** Names of tools that resemble an unknown one. */
  suggestions?: string[]
  /** Where the failure came from, outermost first. */
  causes?: string[]
  /** More from the source of the tool, e.g. the last lines of a server's stderr. */
  details?: Record<string, unknown>
}
