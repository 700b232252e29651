import { echo } from './echo.ts'
import { mathEval } from './math-eval.ts'

/** The handlers that are always available to declarations with `implementation.type` `builtin`. */
export const defaultBuiltins = { math_eval: mathEval, echo }

export const mathEvalDeclaration = {
  name: 'math_eval',
  description:
    'Calculates: arithmetic, percentages (12% of 85), functions (sqrt, sin, log, mean), units (5 inch to cm), ' +
    'matrices, complex and big numbers, in the syntax of mathjs.',
  parameters: {
    type: 'object',
    properties: {
      expression: { type: 'string', description: 'What to calculate, such as "2 * (3 + 4)" or "sqrt(2)"' },
    },
    required: ['expression'],
  },
  implementation: { type: 'builtin', handler: 'math_eval' },
  timeout_ms: 5_000,
  max_timeout_ms: 15_000,
  read_only: true,
  idempotent: true,
  sentences: [
    '(what is|how much is|how many is|calculate|compute|evaluate|work out) {expression#math}',
    '{expression#math}',
    'convert {expression#math}',
  ],
} as const

export const echoDeclaration = {
  name: 'echo',
  description: 'Returns its arguments unchanged.',
  parameters: { type: 'object', properties: {} },
  implementation: { type: 'builtin', handler: 'echo' },
  read_only: true,
  idempotent: true,
  sentences: ['echo {text}'],
} as const
