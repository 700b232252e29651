import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasDatabase } from '../../history/database.ts'
import { ConfigEditor } from '../../project/edit-config.ts'
import { type KnownProgram, knownPrograms } from '../../project/other-programs.ts'
import { serversOf } from '../../project/read.ts'
import { typedLine } from '../ask-input.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { Stopped } from '../stop-signals.ts'
import { say, type Terminal } from '../terminal.ts'
import type { EditContext } from './add.ts'

export interface InitFlags {
  yes?: boolean
}

/** `toolpost init`: writes a toolpost.json after asking, with the servers of other programs on this machine. */
export async function writeConfig(context: EditContext, flags: InitFlags): Promise<number> {
  const { options, terminal, stop } = context
  const editor = await ConfigEditor.open(options.config)
  if (!editor.isNew) throw new UsageError(`${editor.file} exists; \`toolpost add\` adds a server to it`)
  const acceptsAll = flags.yes === true || !process.stdin.isTTY
  const agrees = async (question: string) => {
    if (acceptsAll) return true
    const answer = await typedLine(`${question} [Y/n] `, { terminal, signal: stop.signal })
    if (answer === undefined) throw new Stopped('No answer')
    return !/^\s*n/i.test(answer)
  }
  const next = [
    'toolpost add NAME -- command …   (an MCP server)',
    'toolpost up                       (everything, with a console)',
  ]
  const wanted: string[] = []
  for (const program of knownPrograms(editor.folder)) {
    const servers = await usableServers(program, editor, terminal)
    const offer = `${program.name} (${program.file}) has ${servers.join(', ')}. Use them here?`
    if (servers.length > 0 && (await agrees(offer))) wanted.push(program.file)
  }
  if (wanted.length > 0) editor.set(['include'], wanted)
  editor.set(['mcpServers'], {})
  if (await agrees('Keep a history of calls, for `toolpost calls` and the console?')) {
    editor.set(['history'], { file: '.toolpost/history.db', days: 30 })
    if (!hasDatabase()) next.unshift('npm i libsql                     (stores the history)')
  }
  await editor.save()
  ignoreState(editor.folder)
  say(terminal, `Wrote ${editor.file}\nNext: ${next.join('\n      ')}`)
  return EXIT.ok
}

/** Keeps the token, the logins and the history out of the repository. */
function ignoreState(folder: string): void {
  const file = join(folder, '.gitignore')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (/^\/?\.toolpost\/?\s*$/m.test(text)) return
  writeFileSync(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}.toolpost/\n`)
}

/** Leaves out a file that cannot be read: it would fail at every start. */
async function usableServers(
  program: KnownProgram,
  { folder }: ConfigEditor,
  terminal: Terminal,
): Promise<string[]> {
  try {
    return await serversOf(program, folder)
  } catch (error) {
    say(terminal, `${program.name}: skipped: ${(error as Error).message}`)
    return []
  }
}
