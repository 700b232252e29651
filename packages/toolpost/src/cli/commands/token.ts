import { makeToken, readToken, stateFolder } from '../../project/local-state.ts'
import type { CommandContext } from '../context.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { chosenToken } from '../gateway-client.ts'
import { printResult, say } from '../terminal.ts'

/** `toolpost token [--new]`: prints the owner's token of this folder's gateway, or makes a new one. */
export function printToken({ project, terminal }: CommandContext, flags: { new?: boolean }): number {
  const chosen = chosenToken(project.config, {})
  if (chosen === false) throw new UsageError('Authentication is off: "gateway": { "token": false }')
  if (chosen !== undefined && flags.new)
    throw new UsageError('The token is set by TOOLPOST_TOKEN or the configuration: change it there')
  const folder = stateFolder(project.file)
  try {
    const kept = flags.new ? undefined : readToken(folder)
    printResult(terminal, chosen ?? kept ?? makeToken(folder))
  } catch (error) {
    throw new UsageError(`Cannot save a token in ${folder}: ${(error as Error).message}`, { cause: error })
  }
  if (flags.new) say(terminal, 'The old token is no longer valid.')
  return EXIT.ok
}
