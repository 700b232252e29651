import { expect, it } from 'vitest'
import { parseCommand } from './parse-command.ts'

it.each([
  ['true', 'boolean', true],
  ['"on"', 'boolean', true],
  ['on', 'boolean', true],
  ['off', 'boolean', false],
  ['1', 'boolean', true],
  ['0', 'boolean', false],
  ['{"value":true,"options":{"transitionDuration":"1s"}}', 'boolean', true],
  ['50', 'number', 50],
  ['true', 'number', 255],
  ['false', 'number', 0],
  ['{"value":30}', 'number', 30],
  ['garbage', 'number', undefined],
  ['{"value":{}}', 'boolean', undefined],
] as const)('reads %s for a %s as %s', (text, type, expected) => {
  expect(parseCommand(text, type)).toBe(expected)
})
