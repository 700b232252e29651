// Runs the bundle from the compiled code that the build kept for this very Node: compiling takes as long as all the rest.
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const Module = require('node:module')
const { dirname, join } = require('node:path')
const vm = require('node:vm')

const bundle = join(__dirname, '..', 'dist', 'cli.cjs')
const compiled = join(dirname(bundle), `cli-${process.version}-${process.platform}-${process.arch}.compiled`)

function scriptOf(cachedData) {
  const source = readFileSync(bundle, 'utf8')
  return new vm.Script(
    `(function (exports, require, module, __filename, __dirname, load_module) {${source}\n})`,
    {
      filename: bundle,
      cachedData,
    },
  )
}

function run(script) {
  const module = new Module(bundle)
  module.filename = bundle
  module.paths = Module._nodeModulePaths(dirname(bundle))
  const load = name => import(name)
  const start = script.runInThisContext()
  start.call(
    module.exports,
    module.exports,
    Module.createRequire(bundle),
    module,
    bundle,
    dirname(bundle),
    load,
  )
}

/** Node refuses what it cannot use, and compiles then. */
exports.load = () => {
  if (!existsSync(compiled)) return require(bundle)
  run(scriptOf(readFileSync(compiled)))
}

/** For the build: runs the bundle, and keeps what was compiled for it. */
exports.keepCompiled = () => {
  const script = scriptOf()
  process.once('exit', () => writeFileSync(compiled, script.createCachedData()))
  run(script)
}

exports.compiled = compiled
exports.scriptOf = scriptOf
