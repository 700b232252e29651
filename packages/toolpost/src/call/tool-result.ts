import type { FailureCode } from './failure-codes.ts'

interface ResultBase {
  tool_name: string
  /** The whole attempt, including lookup, fitting and validation. */
  execution_time_ms: number
  tool_call_id?: string
  /** How long the call waited before the tool was invoked: for a person's decision, for a free slot. */
  waited_ms?: number
  /** The durable run that produced it. */
  run_id?: string
  /** The changes made to the arguments so that they fit, one sentence each. */
  repairs?: string[]
  diagnosis?: Diagnosis
}

export interface ToolSuccess<Result = unknown> extends ResultBase {
  success: true
  /** The tool's complete return value. */
  result: Result
  /** The text for a model, if it is not simply `result` as text (content blocks of MCP tools). */
  text?: string
  /** The content blocks that came with `result`, unchanged. */
  content?: readonly { readonly type: string; readonly [field: string]: unknown }[]
  /** `_meta` of an MCP server's result, unchanged. */
  meta?: Readonly<Record<string, unknown>>
  /** Fields of an MCP server's result that the protocol does not define, unchanged. */
  extra?: Readonly<Record<string, unknown>>
  /** Where the full text is kept for a while if it is too long for a model: `result://…`; otherwise the first of `kept`. */
  handle?: string
  /** Content blocks whose long binary content is kept too. */
  kept?: readonly KeptPart[]
}

/** Binary content that is kept for a while. */
export interface KeptPart {
  readonly handle: string
  readonly mimeType: string
  readonly bytes: number
  /** Index of the content block. */
  readonly block: number
}

export interface ToolFailure extends ResultBase {
  success: false
  error: string
  code: FailureCode
  /** When to retry, if known. */
  retry_after_ms?: number
}

/** What every call returns. Plain data: it survives JSON. */
export type ToolResult<Result = unknown> = ToolSuccess<Result> | ToolFailure

/** Helps a person or a model understand a call. */
export interface Diagnosis {
  /** How a call that succeeded missed its deadline. */
  deadline?: string
  /** The required arguments: `a (string), x (one of on, off)`. */
  required?: string
  /** How the tool is called: `turn(x: "on" | "off", level?: integer)`. */
  signature?: string
  /** Tools with a name similar to the unknown one. */
  suggestions?: string[]
  /** Where the failure came from, outermost first. */
  causes?: string[]
  /** More from the tool's source, e.g. the last lines of a server's stderr. */
  details?: Record<string, unknown>
}
