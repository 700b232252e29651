#!/usr/bin/env node
// The version is answered before anything is loaded.
const words = process.argv.slice(2)
if (words[0] === '--version' || words[0] === '-V') {
  process.stdout.write(`${require('../package.json').version}\n`)
} else {
  // The bundle starts quickly, and has all but these: they run from the modules, so that nothing is loaded twice.
  const isLarge =
    hasDurable() ||
    words.some(word =>
      [
        'auth',
        'calls',
        'chat',
        'doctor',
        'runs',
        'serve',
        'service',
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
  // From Node 22 on compiled code is kept between runs by itself.
  const { enableCompileCache } = require('node:module')
  enableCompileCache?.()
  if (isLarge) import('../dist/cli/main.js')
  else if (enableCompileCache) require('../dist/cli.cjs')
  else require('./load-bundle.cjs').load()
}

// What makes calls durable uses the modules, whichever command it is. Whether it is wanted is looked at here only roughly.
function hasDurable() {
  const at = words.findIndex(word => word === '--config' || word.startsWith('--config='))
  const file = at < 0 ? 'toolpost.json' : (words[at].split('=')[1] ?? words[at + 1])
  try {
    return require('node:fs').readFileSync(file, 'utf8').includes('"durable"')
  } catch {
    return false
  }
}
