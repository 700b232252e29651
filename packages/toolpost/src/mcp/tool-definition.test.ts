import { expect, it } from 'vitest'
import { problemOfDefinition, readDefinition } from './tool-definition.ts'

const tool = (name: unknown, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more })
const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [n, n]))

it.each([
  ['a text', 'echo', 'a tool must be an object, got a string'],
  ['nothing', null, 'a tool must be an object, got null'],
  ['a tool without a name', tool(7), 'a tool has no name'],
  ['a name without end', tool('n'.repeat(100_000)), 'is longer than 256 characters'],
  ['a control character', tool('bell\u0007'), "the name 'bell\\u0007' contains invalid characters"],
  ['half a character', tool('half \ud83d'), 'contains invalid characters'],
  ['a schema that is none', tool('odd', { inputSchema: [] }), "the inputSchema of 'odd' is not an object"],
  ['a vast description', tool('vast', { description: 'x'.repeat(600_000) }), "'vast' is too large"],
  ['a vast schema', tool('wide', { inputSchema: { properties: wide } }), "'wide' is too large"],
])('[F51] %s is refused in words', (_, entry, words) => {
  const refusal = readDefinition(entry)
  expect(refusal).toContain(words)
  expect(String(refusal).length).toBeLessThan(300)
})

it('a tool with nothing but a name is accepted', () => {
  expect(readDefinition({ name: 'écho 1' })).toEqual({ name: 'écho 1', inputSchema: { type: 'object' } })
})

it('says of a resource that its URI is too long, not its name', () => {
  const problemOf = (uri: string) => problemOfDefinition({ uri }, 'uri', 'a resource')
  expect(problemOf(`x:${'a'.repeat(300)}`)).toBeUndefined()
  expect(problemOf(`x:${'a'.repeat(9_000)}`)).toMatch(/^the uri .* longer than 8192/)
})
