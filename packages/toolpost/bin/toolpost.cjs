#!/usr/bin/env node
// The version is answered before anything is loaded.
if (process.argv[2] === '--version' || process.argv[2] === '-V') {
  process.stdout.write(`${require('../package.json').version}\n`)
} else {
  // From Node 22 on the compiled code is kept between runs.
  require('node:module').enableCompileCache?.()
  require('../dist/cli.cjs')
}
