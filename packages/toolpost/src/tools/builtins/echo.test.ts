import { expect, it } from 'vitest'
import { echo } from './echo.ts'

it('[B13] echo returns the parameters that it was given', () => {
  const args = { text: 'hello', list: [1, { deep: null }] }
  expect(echo(args)).toEqual({ echo: args })
})
