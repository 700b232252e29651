import { changeText, type PinChange } from '../interceptors/pins.ts'
import type { Project } from '../project/project.ts'
import { commandsOf, trust, untrusted } from '../project/trust.ts'
import { type BareContext, type CommandContext, typedLine } from './context.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import { GatewayClient } from './gateway-client.ts'
import { printJson, printResult, say } from './terminal.ts'

const REFUSED =
  'Nothing was started. `toolpost trust` approves these commands, `--yes` does so for any command'

/** Asks once, at a terminal, whether the commands of a configuration may run on this machine. Throws if not. */
export async function askForTrust(project: Project, { options, terminal, stop }: BareContext): Promise<void> {
  const { file, config } = project
  if (file === undefined) return
  const unknown = untrusted(file, config)
  if (unknown.length === 0) return
  const commands = unknown.map(({ text }) => text)
  if (!options.yes && !(process.stdin.isTTY && terminal.err.isTTY))
    return project.logger.warn({ file }, 'The commands of this configuration were never approved here')
  if (!options.yes) {
    say(terminal, `${file} starts these programs, which were never approved on this machine:`)
    for (const command of commands) say(terminal, `  ${command}`)
    const answer = await typedLine('Run them? [y/N] ', { terminal, signal: stop.signal })
    if (!/^\s*y(es)?\s*$/i.test(answer ?? '')) throw new UsageError(REFUSED)
  }
  approve(file, project, { terminal })
}

/** `toolpost trust`: approves the commands of the configuration. */
export function trustConfig({ project, terminal }: CommandContext): number {
  const { file, config } = project
  if (file === undefined) throw new UsageError('There is no toolpost.json here')
  for (const { text } of commandsOf(config.mcpServers)) say(terminal, `  ${text}`)
  approve(file, project, { terminal })
  say(terminal, `Approved ${file}`)
  return EXIT.ok
}

function approve(file: string, { config }: Project, { terminal }: Pick<BareContext, 'terminal'>): void {
  try {
    trust(file, commandsOf(config.mcpServers))
  } catch (error) {
    say(terminal, `The approval could not be saved: ${(error as Error).message}`)
  }
}

export interface PinsFlags {
  json?: boolean
}

/** `toolpost pins [accept [server]]`: what servers changed about their tools, of the running gateway if there is one. */
export async function showPins(
  { project, terminal, options }: CommandContext,
  { action, server, flags }: { action?: string; server?: string; flags: PinsFlags },
): Promise<number> {
  if (action !== undefined && action !== 'accept')
    throw new UsageError(`invalid action '${action}'; expected accept`)
  const gateway = GatewayClient.running(options.config)
  let changes: PinChange[]
  if (gateway) {
    const path = action ? '/api/pins/accept' : '/api/pins'
    const answer = action ? await gateway.post(path, { server }) : await gateway.get(path)
    changes = (answer as { changes: PinChange[] }).changes
  } else {
    await project.ready()
    changes = action ? project.pins.accept(server) : project.pins.changes()
  }
  if (flags.json) return printJson(terminal, changes)
  for (const change of changes) printResult(terminal, changeText(change))
  if (action) say(terminal, `Accepted ${changes.length} ${changes.length === 1 ? 'change' : 'changes'}.`)
  else if (changes.length === 0) say(terminal, 'All tools are defined as they were accepted.')
  else say(terminal, 'To accept: toolpost pins accept [server]')
  return EXIT.ok
}
