// docs/reference/command-line.md: the help texts of the command lines.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../packing/packages.mjs'

const run = promisify(execFile)
// The bundle, because it starts quickly; its parser has every command.
const programs = [
  ['toolpost', 'packages/toolpost/dist/cli.cjs'],
  ['voice-gateway', 'packages/voice-gateway/bin/voice-gateway.js'],
]

export async function commandLineReference() {
  const parts = await Promise.all(programs.map(([name, file]) => programReference(name, join(root, file))))
  const intro =
    'stdout carries results only, everything else goes to stderr. Exit codes are in [errors](../errors.md#exit-codes-of-the-command-line).'
  return ['# The command line', intro, ...parts.flat()].join('\n\n')
}

async function programReference(name, file) {
  const own = await help(file, [])
  const commands = [...own.matchAll(/^ {2}([a-z][\w-]*)(?=[ \n])/gm)]
    .map(([, command]) => command)
    .filter(command => command !== 'help')
  const pages = await Promise.all([...new Set(commands)].map(command => help(file, [command])))
  const section = (title, text) => `## ${title}\n\n\`\`\`text\n${text}\n\`\`\``
  return [
    section(name, own),
    ...[...new Set(commands)].map((command, at) => section(`${name} ${command}`, pages[at])),
  ]
}

async function help(file, words) {
  const { stdout } = await run(process.execPath, [file, ...words, '--help'], {
    env: { ...process.env, COLUMNS: '100' },
  })
  return stdout.trimEnd()
}
