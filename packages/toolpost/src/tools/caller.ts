import { compileSchema } from '../schema/compile.ts'
import { explainErrors } from '../schema/explain.ts'
import { type JsonSchema, propertiesOf, requiredOf } from '../schema/json-schema.ts'
import { inTurn, schemaProblem } from '../schema/limits.ts'

/** A question to a person, in the form of MCP's elicitation. */
export interface Question extends AskedBy {
  message: string
  /** The call it is about, for UIs that phrase the question themselves; the arguments as they appear in logs. */
  about?: { tool: string; server?: string | undefined; title?: string | undefined; args: unknown } | undefined
  /** The form of the answer; a plain yes or no if left out. */
  schema?: JsonSchema | undefined
  /** What is wrong with an answer, or with just the given field; `undefined` if it fits `schema`. */
  check?: ((content: Record<string, unknown>, field?: string) => Promise<string | undefined>) | undefined
  /** Fields of `schema` that look like secrets, which servers may not ask for in a form. */
  secretFields?: readonly string[] | undefined
  /** A URL to visit instead of a form to fill in; accepting means that the person agreed to open it. */
  url?: string | undefined
  /** The server that asks; left out if Toolpost does. */
  server?: string | undefined
}

/** `cancel`: nobody decided. `reason` explains a refusal. */
export interface QuestionAnswer {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, unknown> | undefined
  reason?: string | undefined
}

/** How long a call waits for an answer to its tool's question. */
export const QUESTION_MS = 5 * 60_000

export type Ask = (question: Question) => Promise<QuestionAnswer>

/** A log message of a server while it works on a call, in MCP's form. */
export interface ServerLogMessage {
  level: string
  data: unknown
  logger?: string | undefined
}

/** Asks a model to write a message for a server: MCP's `sampling/createMessage`, with its parameters and result. */
export type Sample = (
  params: Readonly<Record<string, unknown>>,
  options: AskedBy & { server: string; from?: Requester | undefined },
) => Promise<Record<string, unknown>>

/** The originator of a request to a server. */
export interface Requester extends Caller {
  readonly caller?: string | undefined
  /** Where the call came from. */
  readonly origin?: string | undefined
  /** Aborts when the call has ended. */
  readonly signal?: AbortSignal | undefined
  /** Pauses the call's deadline while `work` runs, for as long as a person may take. */
  hold?<T>(work: () => Promise<T>): Promise<T>
}

/** Options of a request made by a server. */
export interface AskedBy {
  /** Aborts when the answer is no longer needed. */
  signal?: AbortSignal | undefined
  /** The server's own key for it, if it has one. */
  key?: string | undefined
}

/** How a tool's server reaches the caller. */
export interface Caller {
  /** The caller's identity, compared by reference, so that questions reach nobody else. `ask` or the name if left out. */
  readonly peer?: unknown
  /** Asks the person behind the call; left out if this caller cannot answer prompts. */
  readonly ask?: Ask | undefined
  readonly sample?: Sample | undefined
  /** The folders that the client works in: the result of MCP's `roots/list`. */
  readonly roots?: ((options: AskedBy) => Promise<Record<string, unknown>>) | undefined
  readonly onLog?: ((message: ServerLogMessage) => void) | undefined
  /** Called when the server turns the call into a long-running task. */
  readonly onTask?: (() => void) | undefined
}

/** Larger than any real form. */
const MAX_FORM_CHARS = 16_000
const MAX_FORM_SUBSCHEMAS = 150

/** Whether a form for this schema can be shown, and the input checked while a person waits. */
export function isForm(schema: JsonSchema): boolean {
  return !schemaProblem(schema, MAX_FORM_SUBSCHEMAS) && JSON.stringify(schema).length <= MAX_FORM_CHARS
}

/** What is wrong with a filled-in form, as text; `undefined` if it is valid. */
export async function answerProblem(schema: JsonSchema, content: unknown): Promise<string | undefined> {
  if (!isForm(schema)) return 'its form is too large'
  try {
    const { validate } = await compileSchema(schema)
    const isValid = await inTurn(() => validate(content))
    return isValid ? undefined : explainErrors(validate.errors ?? [], schema).join('; ')
  } catch {
    return 'its form is malformed'
  }
}

/** The fields of a form, which is flat. */
export function fieldsOf(schema: JsonSchema = {}) {
  const required = requiredOf(schema)
  return Object.entries(propertiesOf(schema)).map(([name, given]) => {
    const property = Object(given) as JsonSchema
    const title = typeof property.title === 'string' && property.title.trim() !== '' ? property.title : name
    return { name, title, property, isRequired: required.includes(name) }
  })
}

/** Set if the form is a yes-or-no question: it has no fields, or a single boolean one, which is then named. */
export function yesNoField(schema?: JsonSchema): { field?: string } | undefined {
  const [field, more] = fieldsOf(schema)
  if (!field) return {}
  return field.property.type === 'boolean' && !more ? { field: field.name } : undefined
}
