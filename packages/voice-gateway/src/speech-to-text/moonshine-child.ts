// What runs in the forked process: loads the models once, then answers one request after the other.
import llamaTokenizer from 'llama-tokenizer-js'
import type { SentenceGraph } from 'toolpost/models'
import { SAMPLE_RATE } from '../audio/samples.ts'
import { AllowedTokens } from './bound/allowed-tokens.ts'
import { tokenLetters } from './bound/token-letters.ts'
import type { ModelName } from './models.ts'
import type { FromChild, Request, ToChild, Value } from './moonshine-messages.ts'
import { MoonshineModel } from './moonshine-model.ts'
import { NameTree } from './names/name-tree.ts'
import { amplified, LONGER_SILENCE, preparePiece } from './prepare-piece.ts'
import { isUnsure, surer } from './second-hearing.ts'
import { Silero, type SileroStream } from './silero.ts'
import { speechPieces } from './speech-pieces.ts'
import type { Listened } from './transcriber.ts'

// Ctrl-C and a service manager's SIGTERM reach the whole group. The parent decides when this process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// Not process.exit: the model's library could hold it up.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

/** What is longer is no command, and following sentences along it would take long. */
const LONGEST_COMMAND = 12 * SAMPLE_RATE

/** Whoever speaks waits for it: a second hearing that takes longer is given up. */
const PATIENCE_MS = 930

const letters = tokenLetters(llamaTokenizer.vocabById)
const streams = new Map<number, SileroStream>()
let stoppedId: number | undefined
let allowed: AllowedTokens | undefined

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

function receive(message: ToChild, models: Models): void {
  if (message.type === 'stop') stoppedId = message.id
  else if (message.type === 'reset') streams.delete(message.detector)
  else if (message.type === 'graph') follow(message.graph)
  else void answer(message, models)
}

/** What may come first is looked up at once: a person should not wait for that. */
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
  // What the decoder gave lies outside of the heap, where nobody is in a hurry to collect 30 MB of it.
  if (request.type === 'transcribe') setImmediate(() => globalThis.gc?.())
}

function answerTo(request: Request, models: Models): Promise<Value> {
  if (request.type === 'probability') return streamOf(request.detector, models.silero)(request.frame)
  const isStopped = () => stoppedId === request.id
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
 * Every step gives other messages their turn, so a stop is seen between two tokens. Sentences are followed along what is
 * said in one go: what is said before and after a long pause is two things.
 */
async function listen(
  recording: Float32Array,
  { silero, moonshine }: Models,
  { isStopped, allowed, names }: HowToListen,
): Promise<Listened> {
  const until = performance.now() + PATIENCE_MS
  const isLate = () => performance.now() > until
  const samples = amplified(recording)
  const pieces = speechPieces(samples, await silero.probabilities(samples, isStopped))
  const isCommand = pieces.length === 1 && pieces.every(({ start, end }) => end - start <= LONGEST_COMMAND)
  const heard: Listened[] = []
  for (const { start, end } of pieces) {
    if (isStopped()) break
    const speech = samples.subarray(start, end)
    const bound = isCommand ? allowed : undefined
    const first = await moonshine.listen(preparePiece(speech), isStopped, { allowed: bound, names })
    const isEnough = !bound || !isUnsure(first) || isLate()
    const again = () =>
      moonshine.listen(preparePiece(speech, LONGER_SILENCE), () => isStopped() || isLate(), {
        allowed: bound,
        names,
        isWide: true,
      })
    const second = isEnough ? undefined : await again()
    // What was broken off is half a sentence.
    heard.push(second && !isLate() ? surer(first, second) : first)
  }
  return {
    text: joined(heard.map(({ text }) => text)),
    score: heard.reduce((sum, { score }) => sum + score, 0),
    sentences: heard[0]?.sentences ?? [],
    ...(names && { withNames: joined(heard.map(({ text, withNames = text }) => withNames)) }),
  }
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
