import { expect, it } from 'vitest'
import { isOffered } from './tool-filter.ts'

it.each([
  ['read_file', {}, true],
  ['read_file', { include: [] }, false],
  ['read_file', { include: ['read_*'] }, true],
  ['read_file', { include: ['*_file'] }, true],
  ['read_file', { include: ['r*d?file'] }, true],
  ['read_file', { include: ['read'] }, false],
  ['read_file', { include: ['*'], exclude: ['*file*'] }, false],
  ['read_file', { exclude: ['write_*'] }, true],
  ['a.b', { include: ['a?b'] }, true],
  ['axb', { include: ['a.b'] }, false],
])('%s with %j: %s', (name, filter, expected) => {
  expect(isOffered(name, filter)).toBe(expected)
})

it('no pattern makes it slow', () => {
  expect(isOffered('a'.repeat(5_000), { include: [`${'*a'.repeat(200)}b`] })).toBe(false)
})
