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
  /** What is wrong with an answer, or with the one field of it that is named, in words; nothing if it fits `schema`. */
  check?: ((content: Record<string, unknown>, field?: string) => Promise<string | undefined>) | undefined
  /** Fields of `schema` that look like secrets, which no server may ask for in a form. */
  secretFields?: readonly string[] | undefined
  /** An address to visit instead of a form to fill in; to accept means to have been asked to open it. */
  url?: string | undefined
  /** What the server calls it, if it does. */
  key?: string | undefined
  /** The server that asks, if it is not Toolpost. */
  server?: string | undefined
  /** Resolves when the server says that what the address is for is done; it may never do so. */
  completed?: Promise<void> | undefined
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
  options: {
    signal?: AbortSignal | undefined
    server: string
    from?: Requester | undefined
    /** What the server calls it, if it does. */
    key?: string | undefined
  },
) => Promise<Record<string, unknown>>

/** Whoever is behind a request to a server. */
export interface Requester extends Caller {
  /** Who it is: to tell those apart whose requests are under way together. */
  readonly caller?: string | undefined
  /** Where the call came from. */
  readonly origin?: string | undefined
  /** Aborts when the call has ended. */
  readonly signal?: AbortSignal | undefined
  /** The deadline of the call stands still while `work` lasts, for as long as a person may take. */
  hold?<T>(work: () => Promise<T>): Promise<T>
}

/** What goes along with a request of a server. */
export interface AskedBy {
  signal?: AbortSignal | undefined
  /** What the server calls it, if it does. */
  key?: string | undefined
}

/** How a tool's server reaches whoever made the call. */
export interface Caller {
  /** Who it is, told apart by identity: others are not asked their questions. By `ask` or name if left out. */
  readonly peer?: unknown
  /** Asks the person who made the call; left out if there is nobody to ask. */
  readonly ask?: Ask | undefined
  readonly sample?: Sample | undefined
  /** The folders that the client works in: the result of MCP's `roots/list`. */
  readonly roots?: ((options: AskedBy) => Promise<Record<string, unknown>>) | undefined
  readonly onLog?: ((message: ServerLogMessage) => void) | undefined
  /** Told when the server makes the call a task: it will take its time. */
  readonly onTask?: (() => void) | undefined
  /** Takes the addresses to be visited before the call can be made again; without it, each is asked about. */
  readonly onAddresses?: ((addresses: readonly Question[]) => void) | undefined
}
