import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { InferenceSession as Session } from 'onnxruntime-common'
import { copiesOf } from './models.ts'
import { InferenceSession } from './onnx-runtime.ts'

const quiet: Session.SessionOptions = {
  // Warnings concern the model's graph; nobody here can act on them.
  logSeverityLevel: 3,
  // Spinning threads take twice as long if other programs are busy too.
  extra: { session: { intra_op: { allow_spinning: '0' } } },
}

/** Opens a model file, given relative to the main file of its package, or the copy we ship. */
export function openModel(
  place: { package: string; file: string },
  options: Session.SessionOptions,
): Promise<Session> {
  const copy = new URL(place.file, copiesOf(place.package))
  const file = existsSync(copy) ? copy : new URL(place.file, import.meta.resolve(place.package))
  return InferenceSession.create(fileURLToPath(file), { ...quiet, ...options })
}
