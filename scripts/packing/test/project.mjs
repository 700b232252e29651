// An empty project with only our tarballs and the registry.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { npmCommand } from '../../npm.mjs'
import { readJson } from '../packages.mjs'
import { megabytesOf } from './disk-usage.mjs'

const run = promisify(execFile)

/** As on a new user's machine: without our settings. */
export const environment = Object.fromEntries(
  Object.entries({
    ...process.env,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_loglevel: 'error',
  }).filter(
    ([name]) =>
      !/^(npm_(package|lifecycle|command)|ONNXRUNTIME|TOOLPOST|ANTHROPIC|OLLAMA|MQTT_)/i.test(name) &&
      name !== 'INIT_CWD',
  ),
)

export async function makeProject(folder, packages) {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, 'package.json')))
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  await run(...npmCommand(['install', ...packages]), { cwd: folder, env: environment, maxBuffer: 1e8 })
  return folder
}

/** `{ packages, megabytes, scripts, names }`: how much was installed, and which packages have install scripts. */
export function weigh(folder) {
  const { packages } = readJson(join(folder, 'node_modules', '.package-lock.json'))
  const installed = Object.entries(packages).filter(([path]) => existsSync(join(folder, path)))
  return {
    packages: installed.length,
    megabytes: Math.round(megabytesOf(join(folder, 'node_modules')) * 10) / 10,
    scripts: installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path),
    names: installed.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)),
  }
}

/** Returns what a command prints to stdout and stderr, whatever its exit code. */
export async function shell(command, folder, more = {}) {
  const { stdout } = await run('sh', ['-c', `{ ${command}; } 2>&1 || true`], {
    cwd: folder,
    env: { ...environment, ...more },
    maxBuffer: 1e8,
    timeout: 90_000,
  })
  return stdout.trimEnd()
}
