import { createInterface } from 'node:readline/promises'
import { EXIT, UsageError } from '../exit-codes.ts'
import { splitLine } from '../parse-arguments.ts'
import type { Session } from '../session.ts'
import { say, type Terminal } from '../terminal.ts'
import { callTool } from './call.ts'
import { listTools } from './tools.ts'

const HELP = `Type a tool and its arguments:  math_eval expression="12 % of 85"
                                datetime {"timezone": "Tokyo"}
Other words:                    tools, help, exit`

/** `toolpost up`: lists the tools and leaves the person at a prompt that calls them. */
export async function runPrompt(session: Session, terminal: Terminal): Promise<number> {
  say(terminal, `Toolpost, ${session.file ?? 'built-in example (no toolpost.json here)'}\n`)
  await listTools(session, {}, terminal)
  say(terminal, `\n${HELP}\n`)
  const lines = createInterface({
    input: process.stdin,
    output: terminal.err,
    prompt: 'toolpost> ',
    terminal: process.stdin.isTTY,
  })
  lines.prompt()
  for await (const line of lines) {
    if (!(await obey(line.trim(), session, terminal))) break
    lines.prompt()
  }
  lines.close()
  return EXIT.ok
}

/** Carries out one line; says whether to go on. */
async function obey(line: string, session: Session, terminal: Terminal): Promise<boolean> {
  if (line === 'exit' || line === 'quit') return false
  if (line === 'help' || line === '?') say(terminal, HELP)
  else if (line === 'tools') await listTools(session, {}, terminal)
  else if (line !== '') await callLine(line, session, terminal)
  return true
}

async function callLine(line: string, session: Session, terminal: Terminal): Promise<void> {
  try {
    await callTool(session, splitLine(line), {}, terminal)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    say(terminal, error.message)
  }
}
