import { ConfigEditor } from '../../project/edit-config.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { say } from '../terminal.ts'
import type { EditContext } from './add.ts'

/** `toolpost remove NAME`: removes an MCP server from the configuration. */
export async function removeServer({ options, terminal }: EditContext, name: string): Promise<number> {
  const editor = await ConfigEditor.open(options.config)
  if (editor.get(['mcpServers', name]) === undefined)
    throw new UsageError(`${editor.file} has no server '${name}' under mcpServers`)
  editor.set(['mcpServers', name], undefined)
  await editor.save()
  say(terminal, `Changed ${editor.file}`)
  return EXIT.ok
}
