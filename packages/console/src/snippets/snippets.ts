import type { ToolResult } from '../api/types.ts'

export interface SnippetOptions {
  tool: string
  args: unknown
  /** Where the gateway is: `http://127.0.0.1:4040`. */
  origin: string
  /** Whether the gateway asks for a token. The token itself is never copied. */
  withToken: boolean
}

/** The call as a command of Toolpost's own. */
export function asCommand({ tool, args }: SnippetOptions): string {
  const name = tool.startsWith('-') ? `-- ${shellQuoted(tool)}` : shellWord(tool)
  const isEmpty = typeof args === 'object' && args !== null && Object.keys(args).length === 0
  return `toolpost call ${name}${isEmpty ? '' : ` ${shellQuoted(plainJson(args))}`}`
}

export function asCurl({ tool, args, origin, withToken }: SnippetOptions): string {
  return [
    `curl -sS ${shellWord(addressOf(origin, tool))}`,
    ...(withToken ? ['-H "authorization: Bearer $TOOLPOST_TOKEN"'] : []),
    "-H 'content-type: application/json'",
    `-d ${shellQuoted(plainJson(args))}`,
  ].join(' \\\n  ')
}

/** A test that runs as it is, with `node --test`; it expects the result that was seen, if one was. */
export function asTest(options: SnippetOptions & { result?: ToolResult | undefined }): string {
  const { tool, args, origin, withToken, result } = options
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'

test(${jsText(`${tool} ${result?.success === false ? `fails with ${result.code}` : 'answers'}`)}, async () => {
  const response = await fetch(${jsText(addressOf(origin, tool))}, {
    method: 'POST',
    headers: ${headersText(withToken)},
    body: JSON.stringify(${indented(plainJson(args, 2), 4)}),
  })
  const answer = await response.json()
${expectations(result).join('\n')}
})
`
}

function expectations(result: ToolResult | undefined): string[] {
  if (result?.success === false)
    return ['  assert.equal(answer.success, false)', `  assert.equal(answer.code, ${jsText(result.code)})`]
  const success = '  assert.equal(answer.success, true, answer.error)'
  if (result?.result === undefined) return [success]
  return [success, `  assert.deepEqual(answer.result, ${indented(plainJson(result.result, 2), 2)})`]
}

function headersText(withToken: boolean): string {
  const type = "'content-type': 'application/json'"
  return withToken ? `{ ${type}, authorization: \`Bearer \${process.env.TOOLPOST_TOKEN}\` }` : `{ ${type} }`
}

function addressOf(origin: string, tool: string): string {
  return `${origin}/api/tools/${encodeURIComponent(tool)}/call`
}

/** JSON of printable characters only: nothing in it can steer the terminal that it is pasted into. */
function plainJson(value: unknown, indent = 0): string {
  const json = JSON.stringify(value ?? null, null, indent)
  return json.replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function indented(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`)
}

function jsText(text: string): string {
  const body = plainJson(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${body}'`
}

function shellWord(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : shellQuoted(text)
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
