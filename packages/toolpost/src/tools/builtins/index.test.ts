import { expect, it } from 'vitest'
import { defaultBuiltins, echoDeclaration, mathEvalDeclaration } from './index.ts'

it('declares each builtin with the handler that there is for it', () => {
  for (const { name, implementation } of [mathEvalDeclaration, echoDeclaration]) {
    expect(implementation).toEqual({ type: 'builtin', handler: name })
    expect(defaultBuiltins[implementation.handler]).toBeTypeOf('function')
  }
})
