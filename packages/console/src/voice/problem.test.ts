import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/http.ts'
import { problemOf } from './problem.ts'

describe('what went wrong with a recording', () => {
  it.each([
    [new DOMException('', 'NotAllowedError'), /blocked/],
    [new DOMException('', 'NotFoundError'), /No microphone was found/],
    [new DOMException('', 'NotReadableError'), /another program/],
    [new DOMException('', 'EncodingError'), /could not be read/],
    [new DOMException('no idea', 'OddError'), /^The recording failed: no idea\.$/],
    [new ApiError(422, { error: 'No speech recognized' }), /^No speech recognized\.$/],
    [new ApiError(503, { error: 'Toolpost is shutting down.' }), /^Toolpost is shutting down\.$/],
    ['thrown text', /^The recording failed: thrown text\.$/],
  ])('is one sentence: %s', (error, sentence) => {
    expect(problemOf(error)).toMatch(sentence)
  })
})
