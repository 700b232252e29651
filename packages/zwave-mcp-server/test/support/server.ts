import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { expect, onTestFinished } from 'vitest'
import { BrokerConnection } from '../../src/broker-connection.ts'
import { readConfig } from '../../src/config.ts'
import { createLogger } from '../../src/log.ts'
import { callTool } from '../../src/server.ts'
import { ZwaveNetwork } from '../../src/zwave/network.ts'
import { type Child, programs, startChild } from './child.ts'

interface Answer {
  readonly id?: number
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

interface ToolAnswer {
  readonly text: string
  readonly data: Record<string, unknown> | undefined
  readonly isError: boolean
}

export interface TestTools {
  call(tool: string, args?: Record<string, unknown>): Promise<ToolAnswer>
  /** Calls again until the answer is as wanted: for states that take the time they take. */
  callUntil(tool: string, args: object, isWanted: (answer: ToolAnswer) => boolean): Promise<ToolAnswer>
}

export interface TestServer extends Child, TestTools {
  request(method: string, params?: Record<string, unknown>): Promise<Record<string, unknown>>
  /** Sends a line as it is. */
  write(line: string): void
}

/** The tools of the server in this process, on a real broker. */
export function startTools(env: NodeJS.ProcessEnv): TestTools {
  const config = readConfig(env)
  const { brokerUrl: url = '', prefix } = config
  const logger = createLogger('debug', () => {})
  const link = new BrokerConnection({ ...config, url, filter: `${prefix}/#`, logger })
  const network = new ZwaveNetwork({ ...config, link, logger })
  onTestFinished(() => network.close())
  const options = { context: { ...config, network, virtual: false, now: Date.now }, logger }
  const call: TestTools['call'] = async (tool, args = {}) => toAnswer(await callTool(tool, args, options))
  return { call, callUntil: until(call) }
}

const POLL_MS = 5
const PROTOCOL = '2025-11-25'

/** Starts the server and speaks MCP to it by hand. At the end of the test every line of its stdout was JSON-RPC. */
export async function startServer(env: NodeJS.ProcessEnv): Promise<TestServer> {
  const child = startChild(programs.server, { env })
  const waiting = new Map<number, (answer: Answer) => void>()
  watchStdout(child, answer => waiting.get(answer.id ?? -1)?.(answer))
  let lastId = 0
  const write = (line: string) => void child.process.stdin.write(`${line}\n`)
  const request = async (method: string, params: Record<string, unknown> = {}) => {
    const id = ++lastId
    const answered = new Promise<Answer>(resolve => waiting.set(id, resolve))
    write(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    const { result, error } = await answered
    if (error) throw new Error(error.message)
    return result ?? {}
  }
  const call = async (tool: string, args: Record<string, unknown> = {}) =>
    toAnswer((await request('tools/call', { name: tool, arguments: args })) as CallToolResult)
  const clientInfo = { name: 'test', version: '1' }
  await request('initialize', { protocolVersion: PROTOCOL, capabilities: {}, clientInfo })
  write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  return { ...child, request, call, callUntil: until(call), write }
}

function until(call: TestTools['call']): TestTools['callUntil'] {
  return async (tool, args, isWanted) => {
    for (;;) {
      const answer = await call(tool, { ...args })
      if (isWanted(answer)) return answer
      await delay(POLL_MS)
    }
  }
}

/** Fails the test on any line on stdout that is not JSON-RPC. */
export function watchStdout(child: Child, onMessage: (message: Answer) => void = () => {}): void {
  const strayLines: string[] = []
  createInterface({ input: child.process.stdout }).on('line', line => {
    if (/^\{.*"jsonrpc":"2.0".*\}$/.test(line)) onMessage(JSON.parse(line))
    else strayLines.push(line)
  })
  onTestFinished(() => expect(strayLines, 'lines on stdout that are not JSON-RPC').toEqual([]))
}

export function toAnswer({ content, structuredContent, isError = false }: CallToolResult): ToolAnswer {
  const text = content.map(block => (block.type === 'text' ? block.text : '')).join('\n')
  return { text, data: structuredContent as ToolAnswer['data'], isError }
}
