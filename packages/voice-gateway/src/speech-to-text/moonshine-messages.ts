/** To the child. Requests are answered in their order; `stop` and `reset` are not answered. */
export type ToChild =
  | { type: 'transcribe'; id: number; samples: Float32Array }
  | { type: 'probability'; id: number; detector: number; frame: Float32Array }
  | { type: 'stop'; id: number }
  | { type: 'reset'; detector: number }

export type Request = Extract<ToChild, { type: 'transcribe' | 'probability' }>

/** From the child: `ready` or `unusable` first, then one answer to each request. */
export type FromChild =
  | { type: 'ready' }
  | { type: 'unusable'; message: string }
  | { type: 'answer'; id: number; value: string | number }
  | { type: 'failed'; id: number; message: string }
