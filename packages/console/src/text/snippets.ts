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
  const name = `${tool.startsWith('-') ? '-- ' : ''}${shellWord(tool)}`
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
  return `const response = await fetch(${jsText(addressOf(options.origin, options.tool))}, ${requestText(options, 0)})
const result = await response.json() // { success, result | error, tool_name, execution_time_ms }`
}

/** A test that runs as is, with `node --test`; it expects the observed result, if there is one. */
export function asTest(options: SnippetOptions & { result?: ToolResult | undefined }): string {
  const { tool, origin, result } = options
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'

test(${jsText(`${tool} ${result?.success === false ? `fails with ${result.code}` : 'answers'}`)}, async () => {
  const response = await fetch(${jsText(addressOf(origin, tool))}, ${requestText(options, 2)})
  const answer = await response.json()
${expectations(result).join('\n')}
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

function requestText({ args, withToken }: SnippetOptions, indent: number): string {
  const space = ' '.repeat(indent)
  return `{
${space}  method: 'POST',
${space}  headers: ${headersText(withToken)},
${space}  body: JSON.stringify(${jsValue(args, indent + 2)}),
${space}}`
}

function expectations(result: ToolResult | undefined): string[] {
  if (result?.success === false)
    return ['  assert.equal(answer.success, false)', `  assert.equal(answer.code, ${jsText(result.code)})`]
  const success = '  assert.equal(answer.success, true, answer.error)'
  if (result?.result === undefined) return [success]
  return [success, `  assert.deepEqual(answer.result, ${jsValue(result.result, 2)})`]
}

function headersText(withToken: boolean): string {
  const type = "'content-type': 'application/json'"
  return withToken ? `{ ${type}, authorization: \`Bearer \${process.env.TOOLPOST_TOKEN}\` }` : `{ ${type} }`
}

function addressOf(origin: string, tool: string): string {
  return `${origin}/api/tools/${encodeURIComponent(tool.toWellFormed())}/call`
}

/** Control, format and unassigned characters, line separators, and lone surrogates. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** JSON with printable characters only. */
function plainJson(value: unknown, indent = 0): string {
  const json = JSON.stringify(value ?? null, null, indent)
  return json.replace(UNPRINTABLE, character => (character === '\n' ? character : unicodeEscapes(character)))
}

function unicodeEscapes(text: string): string {
  return text
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** Uses `JSON.parse` if a key means something else in JavaScript than in JSON. */
function jsValue(value: unknown, indent: number): string {
  const json = plainJson(value, 2)
  if (json.includes('"__proto__"')) return `JSON.parse(${jsText(plainJson(value))})`
  return json.replaceAll('\n', `\n${' '.repeat(indent)}`)
}

function jsText(text: string): string {
  const json = plainJson(text)
  return /["'\\]/.test(json.slice(1, -1)) ? json : `'${json.slice(1, -1)}'`
}

/** For every POSIX shell. */
function shellWord(text: string): string {
  if (/^[\w./:@%+-]+$/.test(text)) return text
  return text.search(UNPRINTABLE) === -1 ? shellQuoted(text) : shellPrinted(text)
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Unprintable characters come from `printf`; trailing line breaks do not, because the shell would strip them. */
function shellPrinted(text: string): string {
  let length = text.length
  while (text[length - 1] === '\n') length--
  const end = text.slice(length)
  const format = text
    .slice(0, length)
    .replace(/[\\%]/g, character => (character === '%' ? '%%' : '\\\\'))
    .replace(UNPRINTABLE, octalEscapes)
  return `"$(printf -- ${shellQuoted(format)})"${end && shellQuoted(end)}`
}

function octalEscapes(character: string): string {
  const bytes = [...new TextEncoder().encode(character)]
  return bytes.map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
