import { mkdir, rm, writeFile } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { packageRoot } from '../../runtime/package-root.ts'
import type { CommandContext } from '../context.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { hasSystemd, systemctl } from '../service/systemctl.ts'
import { systemdUnit } from '../service/systemd-unit.ts'
import { printResult, say } from '../terminal.ts'

export interface ServiceFlags {
  name: string
  system?: boolean
  user?: string
  print?: boolean
  host?: string
  port?: string
  voice?: boolean
}

const ACTIONS = ['install', 'status', 'remove'] as const
const UNIT_NAME = /^[A-Za-z0-9_.@-]{1,100}$/

/** `toolpost service install|status|remove`: `toolpost up` as a systemd service, for this configuration. */
export async function manageService(
  context: CommandContext,
  action: string,
  flags: ServiceFlags,
): Promise<number> {
  if (!ACTIONS.includes(action as (typeof ACTIONS)[number]))
    throw new UsageError(`invalid action '${action}'; expected one of ${ACTIONS.join(', ')}`)
  if (!UNIT_NAME.test(flags.name)) throw new UsageError(`invalid service name '${flags.name}'`)
  if (action === 'install') return install(context, flags)
  requireSystemd()
  return action === 'status'
    ? systemctl(['status', '--no-pager', flags.name], isSystem(flags))
    : remove(context, flags)
}

async function install({ project, terminal }: CommandContext, flags: ServiceFlags): Promise<number> {
  const { file } = project
  if (file === undefined)
    throw new UsageError('A service needs a toolpost.json; write one here, or name one with --config')
  const unit = systemdUnit({
    command: commandFor(resolve(file), flags),
    folder: dirname(resolve(file)),
    isSystem: isSystem(flags),
    user: flags.user ?? userInfo().username,
  })
  if (flags.print) {
    printResult(terminal, unit.trimEnd())
    return EXIT.ok
  }
  requireSystemd()
  const path = unitPath(flags)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, unit)
  say(terminal, `Wrote ${path}`)
  const steps = [['daemon-reload'], ['enable', '--now', flags.name]]
  for (const step of steps) {
    const code = await systemctl(step, isSystem(flags))
    if (code !== 0) return EXIT.failed
  }
  say(terminal, `Started ${flags.name}; it starts again at every boot. Its log: ${logCommand(flags)}`)
  if (!isSystem(flags)) say(terminal, 'To keep it running while you are logged out: loginctl enable-linger')
  return EXIT.ok
}

async function remove({ terminal }: CommandContext, flags: ServiceFlags): Promise<number> {
  // Fails if there is none, which is fine.
  await systemctl(['disable', '--now', flags.name], isSystem(flags))
  await rm(unitPath(flags), { force: true })
  await systemctl(['daemon-reload'], isSystem(flags))
  say(terminal, `Removed ${flags.name}; the configuration and its data are untouched.`)
  return EXIT.ok
}

function commandFor(file: string, { host, port, voice }: ServiceFlags): string[] {
  const program = join(packageRoot(), 'bin', 'toolpost.cjs')
  return [
    process.execPath,
    program,
    'up',
    '--config',
    file,
    ...(host === undefined ? [] : ['--host', host]),
    ...(port === undefined ? [] : ['--port', port]),
    ...(voice ? ['--voice'] : []),
  ]
}

function requireSystemd(): void {
  if (!hasSystemd())
    throw new UsageError('systemd is not running here; `toolpost service install --print` shows the unit')
}

function isSystem({ system }: ServiceFlags): boolean {
  return system === true
}

function unitPath(flags: ServiceFlags): string {
  const folder = isSystem(flags)
    ? '/etc/systemd/system'
    : join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'systemd', 'user')
  return join(folder, `${flags.name}.service`)
}

function logCommand(flags: ServiceFlags): string {
  return `journalctl ${isSystem(flags) ? '' : '--user '}-u ${flags.name}`
}
