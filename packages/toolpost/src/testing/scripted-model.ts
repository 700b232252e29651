import { unlessAborted } from '../util/clock.ts'

/** A scripted model's reply in one turn. */
export interface ScriptedReply {
  /** An array is streamed piece by piece. */
  text?: string | readonly string[]
  calls?: readonly ScriptedCall[]
  /** In tokens, as in LangChain's messages. */
  usage?: Usage
  error?: Error
  /** Stays silent until the question is stopped. */
  hangs?: boolean
}

type Usage = { input_tokens: number; output_tokens: number }

export interface ScriptedCall {
  name: string
  args?: Record<string, unknown>
  /** `call_1`, `call_2` … if left out. */
  id?: string | undefined
}

/** One turn: what the model was given. */
export interface ScriptedTurn {
  messages: readonly ScriptedMessage[]
  tools: readonly string[]
}

interface ScriptedMessage {
  readonly content: unknown
  readonly tool_calls?: readonly { id?: string; name: string; args: object }[]
  readonly tool_call_id?: string
  getType(): string
}

type NextReply = ScriptedReply | string | ((turn: ScriptedTurn) => ScriptedReply | string)

interface Chunk {
  content: string
  tool_calls: { id: string | undefined; name: string; args: Record<string, unknown>; type: 'tool_call' }[]
  usage_metadata?: Usage | undefined
  concat(next: Chunk): Chunk
}

interface Streams {
  stream(messages: readonly object[], options?: { signal?: AbortSignal }): Promise<AsyncIterable<Chunk>>
}

export interface ScriptedModel extends Streams {
  bindTools(tools: readonly { name: string }[]): Streams
  /** What it was asked, turn by turn. */
  readonly turns: ScriptedTurn[]
}

/**
 * A chat model for `ModelClient` that replies from a script, one entry per turn, and records what it was given. Running
 * past the end of the script is an error.
 */
export function scriptedModel(...script: NextReply[]): ScriptedModel {
  const turns: ScriptedTurn[] = []
  let calls = 0
  const nextId = () => `call_${++calls}`
  const streaming = (tools: readonly string[]): Streams => ({
    async stream(messages, { signal } = {}) {
      const turn = { messages: messages as readonly ScriptedMessage[], tools }
      const next = script[turns.push(turn) - 1]
      if (next === undefined) throw new Error(`The script has no turn ${turns.length}`)
      const reply = typeof next === 'function' ? next(turn) : next
      return speak(typeof reply === 'string' ? { text: reply } : reply, nextId, signal)
    },
  })
  return { ...streaming([]), bindTools: tools => streaming(tools.map(tool => tool.name)), turns }
}

async function* speak(
  { text = '', calls = [], usage, error, hangs = false }: ScriptedReply,
  nextId: () => string,
  signal = new AbortController().signal,
): AsyncGenerator<Chunk> {
  if (hangs) await unlessAborted(new Promise(() => {}), signal)
  if (error) throw error
  for (const piece of typeof text === 'string' ? [text] : text) yield chunk(piece, [])
  const made = calls.map(({ name, args = {}, ...call }) => {
    return { name, args, id: 'id' in call ? call.id : nextId(), type: 'tool_call' as const }
  })
  if (made.length > 0) yield chunk('', made)
  if (usage) yield chunk('', [], usage)
}

function chunk(content: string, tool_calls: Chunk['tool_calls'], usage_metadata?: Usage): Chunk {
  const concat = (next: Chunk) => {
    const usage = next.usage_metadata ?? usage_metadata
    return chunk(content + next.content, [...tool_calls, ...next.tool_calls], usage)
  }
  return { content, tool_calls, usage_metadata, concat }
}
