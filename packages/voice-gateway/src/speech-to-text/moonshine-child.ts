// Runs in the forked process: loads the models once, then answers one request after another.
import llamaTokenizer from 'llama-tokenizer-js'
import type { SentenceGraph } from 'toolpost/models'
import { SAMPLE_RATE } from '../audio/samples.ts'
import { AllowedTokens } from './bound/allowed-tokens.ts'
import { tokenLetters } from './bound/token-letters.ts'
import { HEARINGS, type Hearing, hasTimeFor, PATIENCE_MS } from './hearings.ts'
import type { ModelName } from './models.ts'
import type { FromChild, Request, ToChild, Value } from './moonshine-messages.ts'
import { MoonshineModel } from './moonshine-model.ts'
import { NameTree } from './names/name-tree.ts'
import { amplified } from './prepare-piece.ts'
import { Silero, type SileroStream } from './silero.ts'
import { speechPieces } from './speech-pieces.ts'
import type { Listened } from './transcriber.ts'

// Ctrl-C and a service manager's SIGTERM reach the whole process group; the parent decides when this process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// Not process.exit: the model's library could delay it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

/** Anything longer is not a command, and searching it for sentences would take long. */
const LONGEST_COMMAND = 12 * SAMPLE_RATE

const letters = tokenLetters(llamaTokenizer.vocabById)
const streams = new Map<number, SileroStream>()
let stoppedId: number | undefined
let allowed: AllowedTokens | undefined
/** The last recording, if it may be a command; the caller may want to hear it again. */
let command: Command | undefined

try {
  const models = {
    silero: await Silero.load(),
    moonshine: await MoonshineModel.load(process.argv[2] as ModelName),
  }
  await models.moonshine.warmUp()
  process.on('message', (message: ToChild) => receive(message, models))
  send({ type: 'ready' })
} catch (error) {
  send({ type: 'unusable', message: textOf(error) })
}

interface Models {
  silero: Silero
  moonshine: MoonshineModel
}

interface HowToListen {
  isStopped(): boolean
  allowed: AllowedTokens | undefined
  names: NameTree | undefined
}

interface Command {
  speech: Float32Array
  allowed: AllowedTokens
  startedAt: number
  /** How long the first hearing took. */
  firstMs: number
}

function receive(message: ToChild, models: Models): void {
  if (message.type === 'stop') stoppedId = message.id
  else if (message.type === 'reset') streams.delete(message.detector)
  else if (message.type === 'graph') follow(message.graph)
  else void answer(message, models)
}

/** Precomputes what may come first, so that nobody waits for it. */
function follow(graph: SentenceGraph): void {
  allowed = new AllowedTokens(graph, letters)
  allowed.from(allowed.start())
}

async function answer(request: Request, models: Models): Promise<void> {
  try {
    send({ type: 'answer', id: request.id, value: await answerTo(request, models) })
  } catch (error) {
    send({ type: 'failed', id: request.id, message: textOf(error) })
  }
  // The decoder's outputs lie outside the heap, where the collector is in no hurry to free 30 MB.
  if (request.type !== 'probability') setImmediate(() => globalThis.gc?.())
}

function answerTo(request: Request, models: Models): Promise<Value> {
  const isStopped = () => stoppedId === request.id
  if (request.type === 'probability') return streamOf(request.detector, models.silero)(request.frame)
  if (request.type === 'hear-again') return hearAgain(HEARINGS[request.hearing], models, isStopped)
  return listen(request.samples, models, {
    isStopped,
    allowed: request.isBound ? allowed : undefined,
    names: treeOf(request.names),
  })
}

function treeOf(names: readonly string[]): NameTree | undefined {
  if (names.length === 0) return undefined
  const encode = (text: string) => llamaTokenizer.encode(text, false)
  const endsWord = (token: number) => !/^[\p{L}\p{N}']/u.test(llamaTokenizer.vocabById[token] ?? '')
  return new NameTree(names, { encode, endsWord })
}

function streamOf(detector: number, silero: Silero): SileroStream {
  const stream = streams.get(detector) ?? silero.stream()
  streams.set(detector, stream)
  return stream
}

/**
 * Every step yields to other messages, so a stop is seen between two tokens. Sentences are searched only in speech
 * without a long pause: what comes before and after one are two utterances.
 */
async function listen(
  recording: Float32Array,
  { silero, moonshine }: Models,
  { isStopped, allowed, names }: HowToListen,
): Promise<Listened> {
  command = undefined
  const startedAt = performance.now()
  const samples = amplified(recording)
  const pieces = speechPieces(samples, await silero.probabilities(samples, isStopped))
  const isCommand = pieces.length === 1 && pieces.every(({ start, end }) => end - start <= LONGEST_COMMAND)
  const heard: Listened[] = []
  for (const { start, end } of pieces) {
    if (isStopped()) break
    const speech = samples.subarray(start, end)
    const bound = isCommand ? allowed : undefined
    const begunAt = performance.now()
    heard.push(await moonshine.listen(speech, isStopped, { allowed: bound, names }))
    if (bound) command = { speech, allowed: bound, startedAt, firstMs: performance.now() - begunAt }
  }
  return {
    text: joined(heard.map(({ text }) => text)),
    score: heard.reduce((sum, { score }) => sum + score, 0),
    sentences: heard[0]?.sentences ?? [],
    ...(names && { withNames: joined(heard.map(({ text, withNames = text }) => withNames)) }),
  }
}

/** Null if there is no time for it, or if it took too long and has only half a sentence. */
async function hearAgain(
  hearing: Hearing | undefined,
  { moonshine }: Models,
  isStopped: () => boolean,
): Promise<Listened | null> {
  if (!hearing || !command) return null
  const { speech, allowed, startedAt, firstMs } = command
  const elapsedMs = () => performance.now() - startedAt
  if (!hasTimeFor(hearing, { firstMs, elapsedMs: elapsedMs() })) return null
  let isLate = false
  let stepBegan = elapsedMs()
  const mustEnd = () => {
    const now = elapsedMs()
    // The next step takes about as long as the last.
    isLate ||= now + (now - stepBegan) > PATIENCE_MS
    stepBegan = now
    return isLate || isStopped()
  }
  const heard = await moonshine.listen(speech, mustEnd, { hearing, allowed })
  return isLate ? null : heard
}

function joined(texts: readonly string[]): string {
  return texts.filter(text => text !== '').join(' ')
}

function send(message: FromChild): void {
  process.send?.(message)
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
