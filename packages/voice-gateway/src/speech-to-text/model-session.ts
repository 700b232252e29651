import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { InferenceSession as Session } from 'onnxruntime-common'
import { withIntegerProducts } from './integer-products.ts'
import { copiesOf } from './models.ts'
import { InferenceSession } from './onnx-runtime.ts'

const quiet: Session.SessionOptions = {
  // Warnings concern the model's graph; nobody here can act on them.
  logSeverityLevel: 3,
  // Spinning threads take twice as long if other programs are busy too.
  extra: { session: { intra_op: { allow_spinning: '0' } } },
}

interface ModelFile {
  package: string
  /** Relative to the package's main file. */
  file: string
  /** Whether it multiplies by 8-bit weights that it first turns into floats. */
  hasFloatProducts?: boolean
}

/** Opens a model. */
export async function openModel(place: ModelFile, options: Session.SessionOptions): Promise<Session> {
  const file = modelFile(place)
  const settings = { ...quiet, ...options }
  if (!place.hasFloatProducts) return InferenceSession.create(file, settings)
  return InferenceSession.create(withIntegerProducts(await readFile(file)), settings)
}

/** Its path: in its package, or the copy we ship. */
export function modelFile(place: Pick<ModelFile, 'package' | 'file'>): string {
  const copy = new URL(place.file, copiesOf(place.package))
  return fileURLToPath(existsSync(copy) ? copy : new URL(place.file, import.meta.resolve(place.package)))
}
