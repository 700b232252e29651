import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { DecoderShape } from './decoder.ts'

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

/**
 * Where the published package keeps copies of a package's models, because that package comes with 350 MB of other things.
 */
export function copiesOf(name: string): URL {
  return new URL(`../../models/${name}/`, import.meta.url)
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
    return `The speech model '${name}' is not installed. Run: ${install ?? `npm install ${from}`}`
  }
}
