// A folder with exactly the published files of a package.
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { markOptionalTypes } from './optional-types.mjs'
import { root } from './packages.mjs'
import { prepack } from './prepack.mjs'

/** Copies a package's files to `target`, with its manifest changed by `change`. */
export function stage({ folder, manifest }, target, change = value => value) {
  prepack(folder)
  mkdirSync(target, { recursive: true })
  for (const part of manifest.files.filter(name => !name.startsWith('!'))) copy(folder, part, target)
  for (const part of ['README.md', 'LICENSE']) {
    const from = existsSync(join(folder, part)) ? folder : root
    cpSync(join(from, part), join(target, part))
  }
  if (existsSync(join(target, 'dist'))) markOptionalTypes(join(target, 'dist'), manifest)
  const { devDependencies, scripts, ...published } = manifest
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(change(published), null, 2)}\n`)
}

function copy(folder, part, target) {
  const from = join(folder, part)
  if (!existsSync(from)) throw new Error(`${from} is missing; run: npm run build`)
  cpSync(from, join(target, part), {
    recursive: true,
    filter: path => !/\.(tsbuildinfo|cache)$|\bnode_modules$/.test(path.slice(folder.length)),
  })
}
