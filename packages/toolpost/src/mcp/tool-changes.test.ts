import { expect, it } from 'vitest'
import type { McpToolDefinition } from './tool-definition.ts'
import { describeChanges } from './tool-definition.ts'

const before: McpToolDefinition = {
  name: 'turn',
  description: 'Turns a lamp on',
  inputSchema: {
    type: 'object',
    properties: { lamp: { type: 'string' }, level: { type: 'integer' } },
    required: ['lamp'],
  },
  annotations: { readOnlyHint: true },
}

it('[F35] nothing changed', () => {
  expect(describeChanges(before, structuredClone(before))).toEqual([])
})

it('[F35] says what changed in words', () => {
  const after: McpToolDefinition = {
    ...before,
    description: 'Turns everything on',
    inputSchema: {
      type: 'object',
      properties: { lamp: { type: 'number' }, room: { type: 'string' } },
      required: ['room'],
    },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: false, destructiveHint: true },
  }
  expect(describeChanges(before, after)).toEqual([
    'description: "Turns a lamp on" → "Turns everything on"',
    `argument 'lamp': {"type":"string"} → {"type":"number"}`,
    "argument 'lamp' is no longer required",
    "argument 'level' removed",
    `argument 'room' added: {"type":"string"}`,
    'readOnlyHint: true → false',
    'destructiveHint: none → true',
    'output schema: none → {"type":"object"}',
  ])
})

it('[F35] notices a change that it has no words for', () => {
  const after = { ...before, inputSchema: { ...before.inputSchema, additionalProperties: false } }
  expect(describeChanges(before, after)).toEqual(['input schema changed'])
})
