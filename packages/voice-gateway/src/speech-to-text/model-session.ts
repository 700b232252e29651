import { fileURLToPath } from 'node:url'
import { InferenceSession } from 'onnxruntime-node'

const quiet: InferenceSession.SessionOptions = {
  // Warnings are about the model's graph; nobody here can act on them.
  logSeverityLevel: 3,
  // Threads that wait by spinning take twice the time if other programs are at work too.
  extra: { session: { intra_op: { allow_spinning: '0' } } },
}

/** Opens a model by its place relative to the main file of the package that it comes with. */
export function openModel(
  place: { package: string; file: string },
  options: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  const file = new URL(place.file, import.meta.resolve(place.package))
  return InferenceSession.create(fileURLToPath(file), { ...quiet, ...options })
}
