// Runs in the forked process: loads the models once, then answers one request after another.
import { SAMPLE_RATE } from '../audio/wav.ts'
import { AllowedTokens } from './allowed-tokens.ts'
import type { FromChild, Request, ToChild } from './model-process.ts'
import { amplified, loadMoonshine, loadRuntime, type MoonshineModel } from './moonshine-model.ts'
import { loadSilero, type Silero } from './speech-detector.ts'
import type { Listened } from './transcriber.ts'

type Models = { silero: Silero; moonshine: MoonshineModel }

// Ctrl-C and a service manager's SIGTERM reach the whole process group; the parent decides when this process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// Not process.exit: the model's library could delay it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

/** Anything longer is not a command, and searching it for sentences would take long. */
const LONGEST_COMMAND = 12 * SAMPLE_RATE

const streams = new Map<number, ReturnType<Silero['stream']>>()
let stoppedId: number | undefined
let allowed: AllowedTokens | undefined

try {
  const runtime = await loadRuntime()
  const silero = await loadSilero(runtime)
  const moonshine = await loadMoonshine(process.argv[2] as 'tiny' | 'base', runtime)
  process.on('message', (message: ToChild) => receive(message, { silero, moonshine }))
  send({ type: 'ready' })
} catch (error) {
  send({ type: 'unusable', message: textOf(error) })
}

function receive(message: ToChild, models: Models): void {
  if (message.type === 'stop') stoppedId = message.id
  else if (message.type === 'reset') streams.delete(message.detector)
  else if (message.type === 'graph') {
    allowed = new AllowedTokens(message.graph)
    // Computed in advance: the first utterance does not have to wait for it.
    allowed.from(allowed.start())
  } else void answer(message, models)
}

async function answer(request: Request, models: Models): Promise<void> {
  const { id } = request
  try {
    if (request.type === 'probability') {
      const stream = streams.get(request.detector) ?? models.silero.stream()
      streams.set(request.detector, stream)
      return send({ type: 'answer', id, value: await stream(request.frame) })
    }
    send({ type: 'answer', id, value: await listen(request, models) })
  } catch (error) {
    send({ type: 'failed', id, message: textOf(error) })
  }
  // The decoder's outputs lie outside the heap, where the collector is in no hurry to free 30 MB.
  setImmediate(() => globalThis.gc?.())
}

/**
 * Every step yields to other messages, so a stop is seen between two tokens. Sentences are searched only in speech
 * without a long pause: what comes before and after one are two utterances.
 */
async function listen(request: Request & { type: 'transcribe' }, models: Models): Promise<Listened> {
  const { silero, moonshine } = models
  const isStopped = () => stoppedId === request.id
  const samples = amplified(request.samples)
  const pieces = await silero.pieces(samples, isStopped)
  const [first] = pieces
  const isCommand = first && pieces.length === 1 && first.end - first.start <= LONGEST_COMMAND
  const bound = request.isBound && isCommand ? allowed : undefined
  const heard: Listened[] = []
  for (const { start, end } of pieces)
    if (!isStopped())
      heard.push(await moonshine.listen(samples.subarray(start, end), { isStopped, allowed: bound }))
  const texts = heard.map(({ text }) => text).filter(Boolean)
  const score = heard.reduce((sum, each) => sum + each.score, 0)
  return { text: texts.join(' '), score, sentences: heard[0]?.sentences ?? [] }
}

function send(message: FromChild): void {
  process.send?.(message)
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
