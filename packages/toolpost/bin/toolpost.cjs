#!/usr/bin/env node
// The version is answered before anything is loaded.
const words = process.argv.slice(2)
if (words[0] === '--version' || words[0] === '-V') {
  process.stdout.write(`${require('../package.json').version}\n`)
} else {
  // From Node 22 on the compiled code is kept between runs.
  require('node:module').enableCompileCache?.()
  // The bundle starts quickly, and has all but these: they run from the modules, so that nothing is loaded twice.
  const isLarge = words.some(word =>
    [
      'auth',
      'calls',
      'chat',
      'doctor',
      'serve',
      'service',
      'up',
      'init',
      'add',
      'remove',
      'completion',
      'codegen',
    ].includes(word),
  )
  if (isLarge) import('../dist/cli/main.js')
  else require('../dist/cli.cjs')
}
