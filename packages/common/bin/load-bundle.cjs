// Runs a bundled CLI from the code cache that the build created for this Node version: compiling is half of the start-up time.
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const Module = require('node:module')
const { dirname } = require('node:path')
const vm = require('node:vm')

/** The path of a bundle's code cache. */
exports.compiledOf = bundle =>
  bundle.replace(/\.cjs$/, `-${process.version}-${process.platform}-${process.arch}.compiled`)

/** Loads a bundle as a script. If Node rejects the cached code, it compiles the source. */
exports.scriptOf = (bundle, cachedData) => {
  const source = readFileSync(bundle, 'utf8')
  return new vm.Script(
    `(function (exports, require, module, __filename, __dirname, load_module) {${source}\n})`,
    {
      filename: bundle,
      cachedData,
    },
  )
}

function run(bundle, script, load) {
  const module = new Module(bundle)
  module.filename = bundle
  module.paths = Module._nodeModulePaths(dirname(bundle))
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

/**
 * Runs the bundle at this path. Node 22 and later cache compiled code themselves. Cached code cannot use `import()`, so
 * `load` does it; define it in the bundle's package, because specifiers are resolved from there.
 */
exports.loadBundle = (bundle, load) => {
  Module.enableCompileCache?.()
  const compiled = exports.compiledOf(bundle)
  if (Module.enableCompileCache || !existsSync(compiled)) return require(bundle)
  run(bundle, exports.scriptOf(bundle, readFileSync(compiled)), load)
}

/** For the build: runs a bundle and writes its code cache. */
exports.keepCompiled = (bundle, load) => {
  const script = exports.scriptOf(bundle)
  process.once('exit', () => writeFileSync(exports.compiledOf(bundle), script.createCachedData()))
  run(bundle, script, load)
}
