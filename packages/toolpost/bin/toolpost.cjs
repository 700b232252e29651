#!/usr/bin/env node
// Runs the bundled command line. Compiling it is half of the start-up time: Node 22 and later cache compiled code
// themselves; for Node 20 the first call leaves it next to the bundle.
const { existsSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs')

const bundle = `${__dirname}/../dist/cli.cjs`
const [first] = process.argv.slice(2)

if (first === '--version' || first === '-V') {
  process.stdout.write(`${require('../package.json').version}\n`)
} else if (!existsSync(bundle)) {
  process.stderr.write('Toolpost is not built yet. Run: npm run build\n')
  process.exitCode = 2
} else {
  const { enableCompileCache } = require('node:module')
  enableCompileCache?.()
  if (enableCompileCache) require(bundle)
  else runCached()
}

function runCached() {
  const { createRequire } = require('node:module')
  const { resolve, dirname } = require('node:path')
  const { Script } = require('node:vm')
  const file = resolve(bundle)
  const cache = `${file}.${process.version}-${process.platform}-${process.arch}.cache`
  const cachedData = readCache(file, cache)
  const names = '(function (exports, require, module, __filename, __dirname, load_module) {'
  const script = new Script(`${names}${readFileSync(file, 'latin1')}\n})`, {
    filename: file,
    cachedData,
  })
  // Not what `up` and the like compiled: it would slow down every call.
  if (!cachedData && process.argv[2] === 'call') process.once('exit', () => writeCache(script, cache))
  const module = { exports: {} }
  const load = name => import(name)
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file), load)
}

/** Code compiled from an older bundle must not run: V8 compares only the length. */
function readCache(file, cache) {
  try {
    return statSync(cache).mtimeMs >= statSync(file).mtimeMs ? readFileSync(cache) : undefined
  } catch {
    return undefined
  }
}

function writeCache(script, cache) {
  try {
    writeFileSync(`${cache}.${process.pid}`, script.createCachedData())
    renameSync(`${cache}.${process.pid}`, cache)
  } catch {
    // The folder may belong to somebody else; then every start compiles.
  }
}
