import { describe, expect, it } from 'vitest'
import { dataOf, echoTool, patientTool, testGateway } from '../../test/gateway.ts'
import { startHostile } from '../../test/hostile-server/harness.ts'
import type { CallEvent } from '../executor/observers.ts'
import { removeFromLogs } from '../logging/redact.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { CallRecord } from './api-types.ts'
import { CallJournal } from './call-journal.ts'

function journal(options: { maxCalls?: number; maxBytes?: number } = {}) {
  return new CallJournal({ tools: new ToolManager(), slowMs: 100, ...options })
}

function ended(n: number, fields: Partial<CallEvent> = {}): CallEvent {
  const result = { success: true as const, result: 1, tool_name: 't', execution_time_ms: 5 }
  return { serial: String(n), call: { name: 't', args: {} }, origin: 'http', startedAt: 0, result, ...fields }
}

describe('the journal', () => {
  it('has a call under way, and then with its result', async () => {
    const { tool, begun, finish } = patientTool()
    await using gateway = testGateway([tool])
    const calls = async (): Promise<CallRecord[]> => (await dataOf(gateway.get('/api/calls'))).calls
    const answer = gateway.post('/api/tools/patient/call', { a: 1 })
    await begun
    const [begunCall] = await calls()
    expect(begunCall).toEqual({
      serial: expect.stringMatching(/^[\da-f-]{36}$/),
      tool: 'patient',
      source: 'local',
      origin: 'http',
      args: { a: 1 },
      startedAt: expect.any(Number),
      slow: false,
    })
    finish('done')
    await answer
    expect(await calls()).toEqual([
      {
        ...begunCall,
        durationMs: expect.any(Number),
        stages: expect.any(Object),
        result: expect.objectContaining({ result: 'done' }),
      },
    ])
  })

  it('keeps the last calls, oldest first, and no more', () => {
    const kept = journal({ maxCalls: 3 })
    for (let serial = 1; serial <= 5; serial++) kept.note(ended(serial))
    expect(kept.records().map(({ serial }) => serial)).toEqual(['3', '4', '5'])
  })

  it('keeps at most 1,000 calls', async () => {
    await using gateway = testGateway()
    for (let call = 0; call < 1_005; call++) await gateway.executor.run({ name: 'echo', args: { call } })
    const { calls } = await dataOf(gateway.get('/api/calls'))
    expect(calls).toHaveLength(1_000)
    expect(calls[0].args).toEqual({ call: 5 })
  })

  it('is bounded in size too', () => {
    const kept = journal({ maxBytes: 100_000 })
    for (let serial = 1; serial <= 100; serial++)
      kept.note(ended(serial, { call: { name: 't', args: { text: 'x'.repeat(10_000) } } }))
    expect(kept.records().length).toBeLessThan(10)
    expect(kept.records().at(-1)?.serial).toBe('100')
  })

  it('says how large a value was that it does not keep, and keeps the rest', () => {
    const kept = journal()
    const result = {
      success: true as const,
      result: 'x'.repeat(70_000),
      tool_name: 't',
      execution_time_ms: 5,
    }
    const { record } = kept.note(ended(1, { call: { name: 't', args: { a: 'y'.repeat(80_000) } }, result }))
    expect(record.args).toEqual({ '…': expect.stringMatching(/^shortened, 8\d{4} bytes$/) })
    expect(record.result).toEqual({
      ...result,
      result: { '…': expect.stringMatching(/^shortened, 7\d{4} bytes$/) },
    })
  })

  it('takes no time for an endless value', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    let tree: Record<string, unknown> = { cycle }
    for (let level = 0; level < 60; level++) tree = { left: tree, right: tree, all: [tree, tree] }
    const recordOf = (args: unknown) =>
      JSON.stringify(journal().note(ended(1, { call: { name: 't', args } })).record)
    expect(recordOf(cycle)).toContain('[circular]')
    expect(recordOf(tree)).toMatch(/"shortened, more than \d+ bytes"/)
  })

  it('marks slow calls', () => {
    const result = { success: true as const, result: 1, tool_name: 't', execution_time_ms: 101 }
    expect(journal().note(ended(1, { result })).record.slow).toBe(true)
    expect(journal().note(ended(2)).record.slow).toBe(false)
  })

  it('does not blame the tool for time spent waiting, and keeps who asked and what was noted', () => {
    const result = {
      success: true as const,
      result: 1,
      tool_name: 't',
      execution_time_ms: 5_001,
      waited_ms: 5_000,
    }
    const approval = { id: 'a', by: 'console', decision: 'approved' }
    const notes = { rule: 'rule 1: ask', approval, token: 'hunter22' }
    expect(journal().note(ended(1, { result, caller: 'claude\n', notes })).record).toMatchObject({
      slow: false,
      waitedMs: 5_000,
      caller: 'claude\\n',
      notes: { rule: 'rule 1: ask', approval, token: '[removed]' },
    })
    const large = { ...ended(2), caller: 'c'.repeat(9_000), notes: { rule: 'r'.repeat(9_000) } }
    expect(JSON.stringify(journal().note(large).record).length).toBeLessThan(1_000)
  })

  it("names the server whose tool it was, and keeps the arguments of a caller's own id", async () => {
    await using hostile = await startHostile()
    await using gateway = testGateway([], { executor: hostile.executor, mcp: hostile.mcp })
    await gateway.executor.run({ id: 'mine', name: 'echo', args: { text: 'hi' } })
    const { calls } = await dataOf(gateway.get('/api/calls'))
    expect(calls).toMatchObject([{ id: 'mine', source: 'hostile', origin: 'code', result: { result: 'hi' } }])
  })
})

describe('secrets', () => {
  it('[F34] by their key or a known value are in neither the journal nor the events', async () => {
    const secret = 'swordfish-of-the-journal'
    removeFromLogs([secret])
    const telling = defineTool({
      name: 'telling',
      description: 'Tells',
      schema: { type: 'object' },
      handler: () => ({ line: `it is\n${secret}!`, nested: [{ api_key: 'abc-def-ghi' }], max_tokens: 5 }),
    })
    await using gateway = testGateway([telling])
    const events = await gateway.get('/api/events')
    const given = {
      Password: 'hunter22',
      nested: { authorization: 'Bearer abcdefghijkl' },
      text: 'plain\ntext',
    }
    await gateway.post('/api/tools/telling/call', given)
    const calls = await (await gateway.get('/api/calls')).text()
    await gateway.close()
    const told = await events.text()
    for (const text of [calls, told]) {
      expect(text).not.toMatch(/swordfish|hunter22|abcdefghijkl|abc-def-ghi/)
      expect(text).toContain('"max_tokens":5')
      expect(text).toContain('"text":"plain\\ntext"')
    }
  })

  it('[F33] or escapes cannot forge an event: its data is one line of JSON', async () => {
    await using gateway = testGateway([echoTool])
    const events = await gateway.get('/api/events')
    const text = 'a\n\nevent: end\ndata: {}\n\n\u001b[2J\r\nid: 7'
    await gateway.post('/api/tools/echo/call', { text })
    await gateway.close()
    const lines = (await events.text()).split('\n')
    expect(lines.filter(line => line.startsWith('event:'))).toEqual([
      'event: servers',
      'event: approvals',
      'event: questions',
      'event: call',
      'event: call',
    ])
    expect(lines.join('')).not.toContain('\u001b')
    const data = lines.filter(line => line.startsWith('data:')).at(-1) ?? ''
    expect(JSON.parse(data.slice(5)).args.text).toBe(text)
  })
})
