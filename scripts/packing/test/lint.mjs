// publint and attw look at the tarballs as npm would deliver them. Both come from npm into a folder of their own.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../packages.mjs'

const run = promisify(execFile)
const folder = join(root, 'node_modules/.cache/toolpost-packing/lint')
const TOOLS = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5']

function install() {
  const done = join(folder, 'installed')
  if (existsSync(done) && readFileSync(done, 'utf8') === TOOLS.join()) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  execFileSync('npm', ['install', '--no-save', '--ignore-scripts', '--loglevel=error', ...TOOLS], {
    cwd: folder,
    stdio: 'ignore',
  })
  writeFileSync(done, TOOLS.join())
}

/** Throws with what they found. */
export async function lintTarballs(packed) {
  install()
  const bin = name => join(folder, 'node_modules/.bin', name)
  // The native builds are CommonJS of another project.
  for (const { name, file } of packed.filter(({ name }) => !/^voice-gateway-/.test(name))) {
    await check(name, bin('publint'), ['run', file, '--strict'])
    await check(name, bin('attw'), [file, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji'])
  }
  return TOOLS.map(tool => tool.slice(0, tool.lastIndexOf('@'))).join(', ')
}

async function check(name, command, args) {
  try {
    await run(command, args, { maxBuffer: 1e8 })
  } catch ({ stdout, stderr }) {
    throw new Error(`${name}:\n${stdout}${stderr}`)
  }
}
