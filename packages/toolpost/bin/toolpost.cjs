#!/usr/bin/env node
// The version is answered before anything is loaded.
if (process.argv[2] === '--version' || process.argv[2] === '-V') {
  process.stdout.write(`${require('../package.json').version}\n`)
} else {
  require('../dist/cli.cjs')
}
