#!/usr/bin/env node
// The version is printed without loading anything.
const words = process.argv.slice(2)
if (words[0] === '--version' || words[0] === '-V') {
  process.stdout.write(`${require('../package.json').version}\n`)
} else if (!require('node:fs').existsSync(`${__dirname}/../dist/cli.cjs`)) {
  process.stderr.write('Toolpost is not built yet. Run: npm run build\n')
  process.exitCode = 2
} else if (words.includes('--voice') || hasDurable()) {
  // Voice and durable calls import `toolpost` as modules; a bundle would load every class twice.
  require('node:module').enableCompileCache?.()
  import('../dist/cli/main.js')
} else {
  // The small bundle starts faster and lacks only these commands.
  const isLarge = words.some(word =>
    [
      'auth',
      'calls',
      'chat',
      'doctor',
      'runs',
      'serve',
      'service',
      'token',
      'up',
      'worker',
      'workers',
      'init',
      'add',
      'remove',
      'completion',
      'codegen',
    ].includes(word),
  )
  const bundle = require.resolve(isLarge ? '../dist/cli-large.cjs' : '../dist/cli.cjs')
  require('toolpost-common/load-bundle').loadBundle(bundle, name => import(name))
}

// Durable calls need the modules, whatever the command. This check is only approximate.
function hasDurable() {
  const at = words.findIndex(word => word === '--config' || word.startsWith('--config='))
  const file = at < 0 ? 'toolpost.json' : (words[at].split('=')[1] ?? words[at + 1])
  try {
    return require('node:fs').readFileSync(file, 'utf8').includes('"durable"')
  } catch {
    return false
  }
}
