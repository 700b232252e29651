import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import llamaTokenizer from 'llama-tokenizer-js'
import type { InferenceSession } from 'onnxruntime-common'
import { SAMPLE_RATE, secondsOf } from '../audio/wav.ts'
import { nativeBuild } from '../programs/platform.ts'
import type { AllowedTokens } from './allowed-tokens.ts'
import { Decoder, START_TOKEN } from './decoder.ts'
import { search } from './sentence-search.ts'
import type { Listened } from './transcriber.ts'

export type Runtime = Pick<typeof import('onnxruntime-common'), 'InferenceSession' | 'Tensor'>
export type ModelName = 'tiny' | 'base'

/** Where the models are, relative to their package's main file. Later versions of the base model's package no longer contain it. */
const MODELS = {
  tiny: {
    package: '@moonshine-ai/moonshine-js',
    folder: './model/tiny/quantized',
    shape: { layers: 6, heads: 8, headSize: 36 },
    install: 'npm install @moonshine-ai/moonshine-js',
  },
  base: {
    package: '@usefulsensors/moonshine-js',
    folder: './model/base/quantized',
    shape: { layers: 8, heads: 8, headSize: 52 },
    install: 'npm install @usefulsensors/moonshine-js@0.1.16',
  },
}
/** Where ONNX Runtime may be; the first that loads is used. A clone has the second, the published package the others. */
const NATIVE = [`voice-gateway-${nativeBuild}`, 'onnxruntime-node']
/** Works everywhere, but loads in four seconds instead of one and takes twice the memory. */
const WASM = new URL('../../models/wasm/ort.node.min.mjs', import.meta.url)
const SETTINGS: InferenceSession.SessionOptions = {
  // Warnings concern the model's graph; nobody here can act on them.
  logSeverityLevel: 3,
  // Spinning threads take twice as long if other programs are busy too.
  extra: { session: { intra_op: { allow_spinning: '0' } } },
}
/** Nobody speaks faster; a model that writes more is hallucinating. */
const TOKENS_PER_SECOND = 6.5
/** In a model this small, more threads would only wait for each other. */
const MOST_THREADS = 4
// With this silence around them, a quarter fewer words are wrong.
const SILENCE_BEFORE = Math.round(0.3 * SAMPLE_RATE)
const SILENCE_AFTER = Math.round(0.5 * SAMPLE_RATE)
/** The peak that a quiet recording is amplified to, and by how much at most (40 dB). */
const WANTED_PEAK = 0.3
const MOST_GAIN = 100

export async function loadRuntime(): Promise<Runtime> {
  const require = createRequire(import.meta.url)
  const problems: string[] = []
  for (const name of process.env.TOOLPOST_ONNX === 'wasm' ? [] : NATIVE) {
    try {
      return require(name) as Runtime
    } catch (error) {
      problems.push((error as Error).message.split('\n')[0] ?? '')
    }
  }
  if (existsSync(WASM)) return (await import(WASM.href)) as Runtime
  throw new Error(`ONNX Runtime cannot be loaded; run: npm i ${NATIVE[0]} (${problems.join('; ')})`)
}

/** Opens a model: from its package, or the copy we ship. */
export function openModel(
  { InferenceSession }: Runtime,
  place: { package: string; file: string },
  options: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  const copy = new URL(place.file, copiesOf(place.package))
  const file = existsSync(copy) ? copy : new URL(place.file, import.meta.resolve(place.package))
  return InferenceSession.create(fileURLToPath(file), { ...SETTINGS, ...options })
}

/** What to install if a model is missing; undefined if it is not. */
export function whyMissing(name: ModelName): string | undefined {
  const { package: from, install } = MODELS[name]
  if (existsSync(copiesOf(from))) return undefined
  try {
    createRequire(import.meta.url).resolve(from)
    return undefined
  } catch (error) {
    // A package that cannot be required is installed nonetheless.
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') return undefined
    return `The speech model '${name}' is not installed. Run: ${install}`
  }
}

/** Where the published package keeps copies of a package's models: that package comes with 350 MB of other things. */
function copiesOf(name: string): URL {
  return new URL(`../../models/${name}/`, import.meta.url)
}

/** Turns a piece of speech into text with one of Moonshine's English models. */
export type MoonshineModel = Awaited<ReturnType<typeof loadMoonshine>>

export async function loadMoonshine(name: ModelName, runtime: Runtime) {
  const { package: from, folder, shape } = MODELS[name]
  const { Tensor } = runtime
  const options = { intraOpNumThreads: Math.min(availableParallelism(), MOST_THREADS) }
  const open = (file: string) => openModel(runtime, { package: from, file: `${folder}/${file}` }, options)
  const encoder = await open('encoder_model.onnx')
  const session = await open('decoder_model_merged.onnx')

  /**
   * Transcribes a piece of a few seconds that certainly contains speech, as far as it gets before `isStopped`: freely,
   * and along the sentences of a graph if there is one.
   */
  const listen = async (
    speech: Float32Array,
    { isStopped, allowed }: { isStopped(): boolean; allowed?: AllowedTokens | undefined },
  ): Promise<Listened> => {
    const samples = new Float32Array(SILENCE_BEFORE + speech.length + SILENCE_AFTER)
    samples.set(amplified(speech), SILENCE_BEFORE)
    const input = new Tensor('float32', samples, [1, samples.length])
    const { last_hidden_state: heard } = await encoder.run({ input_values: input })
    if (!heard) throw new Error('the encoder returned nothing')
    const decoder = new Decoder({ session, shape, heard, Tensor })
    const mostTokens = Math.ceil(secondsOf(samples) * TOKENS_PER_SECOND)
    const { tokens, score, sentences } = await search({ decoder, allowed, mostTokens, isStopped })
    // Tokens beyond the tokenizer's are markers without text. Nobody speaks quotation marks.
    const words = tokens.filter(token => token < llamaTokenizer.vocabById.length)
    const text = llamaTokenizer.decode([START_TOKEN, ...words]).replace(/["“”]/g, '')
    return { text: text.trim(), score, sentences }
  }

  // The first run allocates; nobody should have to wait for that.
  await listen(new Float32Array(SAMPLE_RATE), { isStopped: () => false })
  return { listen }
}

/** Amplifies a quiet recording, because neither model hears a distant voice; returns others unchanged. */
export function amplified(samples: Float32Array): Float32Array {
  const peak = samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0)
  if (peak === 0 || peak >= WANTED_PEAK) return samples
  const gain = Math.min(WANTED_PEAK / peak, MOST_GAIN)
  return samples.map(sample => sample * gain)
}
