import type { JsonSchema } from '../schema/json-schema.ts'

/*
 * What whoever made a call can do for the tool while it runs.
 */

/** A question to a person, in the form of MCP's elicitation. */
export interface Question {
  message: string
  /** The call that it is about, for those who have words of their own; the arguments as they stand in logs. */
  about?: { readonly tool: string; readonly title?: string | undefined; readonly args: unknown } | undefined
  /** What the answer must look like; a plain yes or no if left out. */
  schema?: JsonSchema | undefined
  /** An address to visit instead of a form to fill in; to accept means to have been asked to open it. */
  url?: string | undefined
  /** The server that asks, if it is not Toolpost. */
  server?: string | undefined
  /** Aborts when nobody needs the answer any more. */
  signal?: AbortSignal | undefined
}

/** `cancel`: nobody decided. `reason` says why, to whoever reads that the call was refused. */
export interface Answer {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, unknown> | undefined
  reason?: string | undefined
}

export type Ask = (question: Question) => Promise<Answer>

/** What a server logs while it works on a call, as MCP has it. */
export interface ServerLogMessage {
  level: string
  data: unknown
  logger?: string | undefined
}

/** Has a model write a message for a server: `sampling/createMessage` of MCP, parameters and result as they are there. */
export type Sample = (
  params: Readonly<Record<string, unknown>>,
  options: { signal?: AbortSignal | undefined; server: string },
) => Promise<Record<string, unknown>>

/** How a tool's server reaches whoever made the call. */
export interface Caller {
  /** Asks the person who made the call; left out if there is nobody to ask. */
  readonly ask?: Ask | undefined
  readonly sample?: Sample | undefined
  readonly onLog?: ((message: ServerLogMessage) => void) | undefined
  /** Told when the server makes the call a task: it will take its time. */
  readonly onTask?: (() => void) | undefined
}
