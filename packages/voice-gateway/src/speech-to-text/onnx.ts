import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { InferenceSession } from 'onnxruntime-common'
import { nativeBuild } from '../programs/platform.ts'
import type { DecoderShape } from './decoder.ts'

export type Runtime = Pick<typeof import('onnxruntime-common'), 'InferenceSession' | 'Tensor'>
export type ModelName = 'tiny' | 'base'

interface ModelPlace {
  package: string
  /** Relative to the package's main file. */
  folder: string
  shape: DecoderShape
  /** How to install it, if it does not come with this package. */
  install?: string
}

/** Where the models are. Later versions of the base model's package no longer contain it. */
export const MODELS: Record<ModelName, ModelPlace> = {
  tiny: {
    package: '@moonshine-ai/moonshine-js',
    folder: './model/tiny/quantized',
    shape: { layers: 6, heads: 8, headSize: 36 },
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
  const { package: from, install = `npm install ${from}` } = MODELS[name]
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
