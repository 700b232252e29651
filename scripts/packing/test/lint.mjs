// publint and attw check the tarballs as npm would deliver them, dockerfile-utils and dclint the images. hadolint itself is not
// on npm (its wrapper downloads it from another host) and runs on GitHub. All are installed into a separate folder.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runNpm } from '../../npm.mjs'
import { root } from '../packages.mjs'
import { checkImages } from './dockerfile.mjs'

const run = promisify(execFile)
const folder = join(root, 'node_modules/.cache/toolpost-packing/lint')
const TOOLS = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5', 'dockerfile-utils@0.16.3', 'dclint@3.1.0']

function install() {
  const done = join(folder, 'installed')
  if (existsSync(done) && readFileSync(done, 'utf8') === TOOLS.join()) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  runNpm(['install', '--no-save', '--ignore-scripts', '--loglevel=error', ...TOOLS], {
    cwd: folder,
    stdio: 'ignore',
  })
  writeFileSync(done, TOOLS.join())
}

/** Throws with the problems found. */
export async function lint(packed) {
  install()
  const bin = name => join(folder, 'node_modules/.bin', name)
  // The native builds are another project's CommonJS.
  const ours = packed.filter(({ name }) => !/^voice-gateway-/.test(name))
  const checks = ours.flatMap(({ name, file }) => [
    [name, bin('publint'), ['run', file, '--strict']],
    [name, bin('attw'), [file, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji']],
  ])
  checks.push(['Dockerfile', bin('dockerfile-utils'), ['lint', join(root, 'Dockerfile')]])
  checks.push(['compose.yaml', bin('dclint'), ['--quiet', join(root, 'compose.yaml')]])
  for (const [name, command, args] of checks) await check(name, command, args)
  checkImages()
  return TOOLS.map(tool => tool.slice(0, tool.lastIndexOf('@'))).join(', ')
}

async function check(name, command, args) {
  try {
    await run(command, args, { maxBuffer: 1e8 })
  } catch ({ stdout, stderr }) {
    throw new Error(`${name}:\n${stdout}${stderr}`)
  }
}
