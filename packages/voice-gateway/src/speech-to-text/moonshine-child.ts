// What runs in the forked process: loads the models once, then answers one request after the other.
import type { FromChild, Request, ToChild } from './moonshine-messages.ts'
import { MoonshineModel } from './moonshine-model.ts'
import { amplified, preparePiece } from './prepare-piece.ts'
import { Silero, type SileroStream } from './silero.ts'
import { speechPieces } from './speech-pieces.ts'

// Ctrl-C and a service manager's SIGTERM reach the whole group. The parent decides when this process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// Not process.exit: the model's library could hold it up.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

const streams = new Map<number, SileroStream>()
let stoppedId: number | undefined

try {
  const models = { silero: await Silero.load(), moonshine: await MoonshineModel.load() }
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

function receive(message: ToChild, models: Models): void {
  if (message.type === 'stop') stoppedId = message.id
  else if (message.type === 'reset') streams.delete(message.detector)
  else void answer(message, models)
}

async function answer(request: Request, models: Models): Promise<void> {
  try {
    send({ type: 'answer', id: request.id, value: await answerTo(request, models) })
  } catch (error) {
    send({ type: 'failed', id: request.id, message: textOf(error) })
  }
}

function answerTo(request: Request, models: Models): Promise<string | number> {
  if (request.type === 'probability') return streamOf(request.detector, models.silero)(request.frame)
  return transcribe(request.samples, models, () => stoppedId === request.id)
}

function streamOf(detector: number, silero: Silero): SileroStream {
  const stream = streams.get(detector) ?? silero.stream()
  streams.set(detector, stream)
  return stream
}

/** Every step gives other messages their turn, so a stop is seen between two tokens. */
async function transcribe(
  recording: Float32Array,
  models: Models,
  isStopped: () => boolean,
): Promise<string> {
  const samples = amplified(recording)
  const probabilities = await models.silero.probabilities(samples, isStopped)
  const texts: string[] = []
  for (const { start, end } of speechPieces(samples, probabilities)) {
    if (isStopped()) break
    texts.push(await models.moonshine.transcribe(preparePiece(samples.subarray(start, end)), isStopped))
  }
  return texts.filter(text => text !== '').join(' ')
}

function send(message: FromChild): void {
  process.send?.(message)
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
