import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { InferenceSession as Session } from 'onnxruntime-common'
import { copiesOf } from './models.ts'
import { InferenceSession } from './onnx-runtime.ts'

const quiet: Session.SessionOptions = {
  // Warnings are about the model's graph; nobody here can act on them.
  logSeverityLevel: 3,
  // Threads that wait by spinning take twice the time if other programs are at work too.
  extra: { session: { intra_op: { allow_spinning: '0' } } },
}

/** Opens a model by its place relative to the main file of the package that it comes from, or its copy. */
export function openModel(
  place: { package: string; file: string },
  options: Session.SessionOptions,
): Promise<Session> {
  const copy = new URL(place.file, copiesOf(place.package))
  const file = existsSync(copy) ? copy : new URL(place.file, import.meta.resolve(place.package))
  return InferenceSession.create(fileURLToPath(file), { ...quiet, ...options })
}
