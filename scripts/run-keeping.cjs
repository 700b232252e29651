// Runs a bundle and writes its code cache: `node run-keeping.cjs BUNDLE ARGUMENTS…`.
const [bundle] = process.argv.splice(2, 1)
require('../packages/common/bin/load-bundle.cjs').keepCompiled(bundle, name => import(name))
