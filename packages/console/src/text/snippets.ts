import type { ChatCall, ToolResult } from 'toolpost/gateway'

/*
 * Calls to paste elsewhere. Names and values can contain anything: what is copied has only printable characters,
 * because a terminal treats others as keys, and nothing in it runs but the command itself.
 */

export interface SnippetOptions {
  tool: string
  args: unknown
  /** The gateway's origin: `http://127.0.0.1:4040`. */
  origin: string
  /** Whether the gateway requires a token. The token itself is never copied. */
  withToken: boolean
}

export function asCommand({ tool, args }: SnippetOptions): string {
  const name = `${tool.startsWith('-') ? '-- ' : ''}${shellWord(printable(tool))}`
  const isEmpty = typeof args === 'object' && args !== null && Object.keys(args).length === 0
  return `toolpost call ${name}${isEmpty ? '' : ` ${shellWord(plainJson(args))}`}`
}

export function asCurl({ tool, args, origin, withToken }: SnippetOptions): string {
  return [
    `curl -sS ${shellWord(addressOf(origin, tool))}`,
    ...(withToken ? ['-H "authorization: Bearer $TOOLPOST_TOKEN"'] : []),
    "-H 'content-type: application/json'",
    `-d ${shellWord(plainJson(args))}`,
  ].join(' \\\n  ')
}

/** With `fetch`, for any TypeScript program. */
export function asTypeScript(options: SnippetOptions): string {
  return `const response = await ${fetchText(options)}
const result = await response.json() // { success, result | error, tool_name, execution_time_ms }`
}

/** A test that runs as is, with `node --test`; it expects the observed result, if there is one. */
export function asTest({ result, ...options }: SnippetOptions & { result?: ToolResult | undefined }): string {
  const outcome = result?.success === false ? `fails with ${result.code}` : 'answers'
  const [field, expected] = result?.success === false ? ['code', result.code] : ['result', result?.result]
  const same = `assert.deepEqual(answer.${field}, ${plainJson(expected, 2)})`
  const lines = [
    `const response = await ${fetchText(options)}`,
    'const answer = await response.json()',
    `assert.equal(answer.success, ${result?.success ?? true}, answer.error)`,
    ...(expected === undefined ? [] : [same]),
  ]
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'

test(${plainJson(`${options.tool} ${outcome}`)}, async () => {
  ${lines.join('\n').replaceAll('\n', '\n  ')}
})
`
}

/** A case for `toolpost eval`: the question, the calls that answered it, and what they returned. */
export function asCase(question: string, calls: readonly ChatCall[]): string {
  const expect = calls.map(({ name, args }) => ({ tool: name, args: args ?? {} }))
  const given = calls.flatMap(({ name, result }) => (result?.success ? [[name, result.result]] : []))
  return `cases:
  - ask: ${plainJson(question)}
    expect: ${plainJson(expect)}
    given: ${plainJson(Object.fromEntries(given))}
`
}

function fetchText({ tool, args, origin, withToken }: SnippetOptions): string {
  const token = withToken ? ', authorization: `Bearer ${process.env.TOOLPOST_TOKEN}`' : ''
  return `fetch(${plainJson(addressOf(origin, tool))}, {
  method: 'POST',
  headers: { 'content-type': 'application/json'${token} },
  body: JSON.stringify(${plainJson(args, 2).replaceAll('\n', '\n  ')}),
})`
}

function addressOf(origin: string, tool: string): string {
  return `${origin}/api/tools/${encodeURIComponent(tool.toWellFormed())}/call`
}

/** Control, format and unassigned characters, line separators, and lone surrogates. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Others become escapes as in JSON. */
function printable(text: string): string {
  return text.replace(UNPRINTABLE, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** JSON with printable characters only. */
function plainJson(value: unknown, indent = 0): string {
  return JSON.stringify(value ?? null, null, indent)
    .split('\n')
    .map(printable)
    .join('\n')
}

/** For every POSIX shell. */
function shellWord(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
