import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { ConfigInput } from '../project/inputs.ts'
import { say, type Terminal } from './terminal.ts'

interface Asked {
  terminal: Terminal
  signal: AbortSignal
  /** Where to read the answer from; standard input if left out. */
  input?: NodeJS.ReadableStream & { isTTY?: boolean }
}

/** Asks for an input of the configuration at the terminal. `undefined` without a terminal or an answer. */
export async function askInput(asked: ConfigInput, options: Asked): Promise<string | undefined> {
  const { terminal, input = process.stdin } = options
  if (!input.isTTY || !terminal.err.isTTY) return undefined
  const { description, options: choices, suggestion } = asked
  for (const [index, choice] of choices.entries()) say(terminal, `  ${index + 1}  ${choice}`)
  const hint = suggestion === undefined || asked.isSecret ? '' : ` [${suggestion}]`
  const typed = await typedLine(`${description}${hint}: `, { ...options, input, isSecret: asked.isSecret })
  const answer = typed?.trim() || suggestion
  if (answer === undefined || choices.length === 0) return answer
  return choices.includes(answer) ? answer : choices[Number(answer) - 1]
}

/** `undefined` if the terminal is closed or Toolpost is stopped. */
export async function typedLine(
  question: string,
  { terminal, signal, input = process.stdin, isSecret = false }: Asked & { isSecret?: boolean },
): Promise<string | undefined> {
  // The line reader echoes what is typed, so for a secret its output is discarded.
  const output = isSecret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : terminal.err
  const lines = createInterface({ input, output, terminal: true })
  if (isSecret) terminal.err.write(question)
  const closed = new Promise<undefined>(resolve => lines.once('close', () => resolve(undefined)))
  const answer = lines.question(isSecret ? '' : question, { signal }).catch(() => undefined)
  const typed = await Promise.race([answer, closed])
  lines.close()
  if (isSecret || typed === undefined) terminal.err.write('\n')
  return typed
}
