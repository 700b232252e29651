import type { ToolInfo } from 'toolpost/gateway'
import { describe, expect, it } from 'vitest'
import { deadlineMs, firstDraft, formKind, keepDraft, parseArguments } from './draft.ts'

const tool: ToolInfo = {
  name: 'lights',
  description: '',
  source: 'local',
  signature: 'lights()',
  schema: { properties: { on: { type: 'boolean' } } },
}
const call = {
  origin: 'http',
  serial: '1',
  tool: 'lights',
  source: 'local',
  args: { on: true },
  startedAt: 0,
  slow: false,
}

describe('the arguments that are filled in', () => {
  it('are kept for each tool, and give way to those of a call that is run again', () => {
    expect(firstDraft(tool, undefined)).toMatchObject({ mode: 'form', args: {} })
    keepDraft('lights', { mode: 'json', args: { on: false }, text: '{}', deadline: '5' })
    expect(firstDraft(tool, undefined)).toMatchObject({ mode: 'json', deadline: '5' })
    expect(firstDraft(tool, call)).toMatchObject({ mode: 'form', args: { on: true } })
  })

  it('are a form if the schema names any, JSON if it accepts anything, nothing if it is closed', () => {
    expect(formKind(tool.schema)).toBe('form')
    expect(formKind({ type: 'object', additionalProperties: { type: 'string' } })).toBe('form')
    expect(formKind({ type: 'object' })).toBe('json')
    expect(formKind({ type: 'object', properties: {}, additionalProperties: false })).toBe('none')
  })

  it('as JSON are an object', () => {
    expect(parseArguments(' ')).toEqual({ ok: true, args: {} })
    expect(parseArguments('{"a": 1}')).toEqual({ ok: true, args: { a: 1 } })
    expect(parseArguments('[1]')).toMatchObject({ ok: false })
    expect(parseArguments('{"a": }')).toMatchObject({ ok: false })
  })

  it('have a deadline only if it is a whole number of milliseconds', () => {
    expect(['250', '', 'soon', '-1', '1.5', '0'].map(deadlineMs)).toEqual([250, ...Array(5).fill(undefined)])
  })
})
