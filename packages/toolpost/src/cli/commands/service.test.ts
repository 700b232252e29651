import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { commandLine } from '../../../test/command.ts'
import { packageRoot } from '../../runtime/package-root.ts'
import { hasSystemd } from '../service/systemctl.ts'
import { systemdUnit } from '../service/systemd-unit.ts'

const { toolpost, configFile, folder } = commandLine()
const config = configFile({})

const hasAnalyze = existsSync('/usr/bin/systemd-analyze')

function problemsOf(unit: string, name: string): string {
  const file = join(folder, `${name}.service`)
  writeFileSync(file, unit)
  try {
    return execFileSync('systemd-analyze', ['verify', file], { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    return (error as { stderr: string }).stderr
  }
}

describe('toolpost service', { timeout: 60_000 }, () => {
  it('shows the unit that runs this configuration, with nothing between it and the process', async () => {
    const { code, out } = await toolpost([
      '--config',
      config,
      'service',
      'install',
      '--print',
      '--port',
      '4999',
    ])
    expect(code).toBe(0)
    const program = join(packageRoot(), 'bin', 'toolpost.cjs')
    expect(out).toContain(`ExecStart=${process.execPath} ${program} up --config ${config} --port 4999\n`)
    expect(out).toContain(`WorkingDirectory=${folder}\n`)
    expect(out).toContain('Type=notify\n')
    expect(out).not.toContain('User=')
  })

  it('runs a service of the machine as the person who installs it, or as another', async () => {
    const words = ['--config', config, 'service', 'install', '--print', '--system', '--user', 'home']
    const { out } = await toolpost(words)
    expect(out).toContain('User=home\n')
    expect(out).toContain('ProtectSystem=strict\n')
    expect(out).toContain(`ReadWritePaths=${folder}\n`)
  })

  it.each([
    [['service', 'install', '--print'], 'A service needs a toolpost.json'],
    [
      ['--config', config, 'service', 'begin'],
      "invalid action 'begin'; expected one of install, status, remove",
    ],
    [['--config', config, 'service', 'install', '--name', '../x'], "invalid service name '../x'"],
  ])('says what is wrong: %s', async (words, problem) => {
    expect(await toolpost(words)).toMatchObject({ code: 2, err: expect.stringContaining(problem) })
  })

  it.skipIf(hasSystemd())('says that systemd is not running here', async () => {
    for (const action of ['install', 'status', 'remove'])
      expect(await toolpost(['--config', config, 'service', action])).toMatchObject({
        code: 2,
        err: expect.stringContaining('systemd is not running here'),
      })
  })

  it('tells systemd when it serves, and when it stops', async () => {
    const bin = join(folder, 'bin')
    const log = join(folder, 'notified')
    mkdirSync(bin)
    writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$@" >> '${log}'\n`)
    chmodSync(join(bin, 'systemd-notify'), 0o755)
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, NOTIFY_SOCKET: '/run/none' }
    const words = [join(packageRoot(), 'bin', 'toolpost.cjs'), '--config', config, 'up', '--port', '0']
    const up = spawn(process.execPath, words, { env, stdio: 'ignore' })
    const told = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
    await vi.waitFor(() => expect(told()).toEqual([`--pid=${up.pid} --ready`]), 30_000)
    up.kill('SIGTERM')
    await new Promise(resolve => up.on('close', resolve))
    await vi.waitFor(() => expect(told()[1]).toBe(`--pid=${up.pid} STOPPING=1`), 10_000)
  })
})

describe('the unit', () => {
  it.skipIf(!hasAnalyze).each([false, true])(
    'has no mistake that systemd knows of (system: %s)',
    isSystem => {
      mkdirSync(join(folder, 'my home'), { recursive: true })
      const command = [process.execPath, join(folder, 'my home', '100%', '$x'), 'up']
      const unit = systemdUnit({ command, folder: join(folder, 'my home'), isSystem, user: 'root' })
      expect(problemsOf(unit, `toolpost-${isSystem}`)).toBe('')
    },
  )

  it('takes a path by its letters', () => {
    const unit = systemdUnit({ command: ['/n', '/a b/$x"%y'], folder: '/a b', isSystem: false })
    expect(unit).toContain('ExecStart=/n "/a b/$$x\\"%%y"\n')
    expect(unit).toContain('WorkingDirectory=/a b\n')
  })
})
