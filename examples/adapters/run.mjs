// `npm run examples:adapters`: installs the libraries, which need Node 22, and runs each example against them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const run = (command, ...args) => {
  const { status } = spawnSync(command, args, { cwd: import.meta.dirname, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(`${import.meta.dirname}/node_modules`)) run('npm', 'ci', '--no-audit', '--no-fund')
for (const name of ['ai-sdk', 'openai-agents', 'mastra']) run('node_modules/.bin/node', `${name}.mjs`)
